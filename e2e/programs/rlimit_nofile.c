/* RLIMIT_NOFILE of 16: exactly as many files can be opened as without netra, with the same
 * numbers, so netra holds no descriptor. */
#include "expect.h"
#include <sys/resource.h>

int main(void) {
    struct rlimit few = {16, 16};
    must(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int opened = 0, sum = 0, fd;
    while ((fd = open("many.dat", O_RDWR | O_CREAT, 0644)) >= 0) {
        opened++;
        sum += fd;
        write_times(fd, 1, 10);
    }
    printf("opened %d, numbers add up to %d, then %s\n", opened, sum, strerror(errno));
    /* One must be free to write the expectation. */
    must(close(15) == 0);
    expect_posix("many.dat", opened, opened, 10 * opened, 0, 0);
    return 0;
}
