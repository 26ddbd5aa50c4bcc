/* An address space that has no room left for netra's tables in a new image: the application runs
 * as without it. */
#include "expect.h"
#include <sys/resource.h>

int main(int count, char **arguments) {
    if (count == 1) {
        struct rlimit space = {24 << 20, 24 << 20};
        must(setrlimit(RLIMIT_AS, &space) == 0);
        execl("/proc/self/exe", "rlimit_as", "again", (char *)NULL);
        must(!"exec returned");
    }
    int fd = open("tight.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 100, 100);
    struct stat facts;
    must(fstat(fd, &facts) == 0);
    printf("%s: %lld bytes\n", arguments[1], (long long)facts.st_size);
    return 0;
}
