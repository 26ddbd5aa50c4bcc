/* close_range over everything, as daemons do: netra must hold no descriptor that this could take,
 * and the numbers are another file's at the next open. */
#include "expect.h"
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

int main(void) {
    int fd = open("first.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 100);
    must(close_range(3, ~0U, 0) == 0);
    must(write(fd, "x", 1) == -1);
    printf("after close_range: %s\n", strerror(errno));
    int again = open("second.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    printf("number used again: %s\n", again == fd ? "yes" : "no");
    write_times(again, 9, 50);
    must(close_range((unsigned)again, (unsigned)again, CLOSE_RANGE_CLOEXEC) == 0);
    write_times(again, 1, 50);
    expect_posix("first.dat", 1, 1, 100, 0, 0);
    expect_posix("second.dat", 1, 10, 500, 0, 0);
    return 0;
}
