/* Descriptor numbers beyond any small table. */
#include "expect.h"
#include <sys/resource.h>

int main(void) {
    struct rlimit limit;
    must(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int fd = open("huge.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    long numbers[] = {1023, 1024, 4095, 65536, 1048575, 1048576, 3000000};
    int done = 0;
    for (int i = 0; i < 7; i++) {
        if ((rlim_t)numbers[i] >= limit.rlim_max)
            continue;
        must(dup2(fd, (int)numbers[i]) == numbers[i]);
        write_times((int)numbers[i], 1, 10);
        must(close((int)numbers[i]) == 0);
        done++;
    }
    must(dup2(fd, -1) == -1);
    must(write(-1, "x", 1) == -1);
    must(close(2147483647) == -1);
    printf("%d numbers; %s\n", done, strerror(errno));
    expect_posix("huge.dat", 1 + done, done, 10 * done, 0, 0);
    expect("huge.dat", "POSIX_DUPS", done);
    return 0;
}
