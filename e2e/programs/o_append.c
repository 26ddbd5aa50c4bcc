/* O_APPEND: every write goes to the end, wherever the position was; MAX_BYTE must say so. */
#include "expect.h"

int main(void) {
    int fd = open("log.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 1000);
    must(close(fd) == 0);
    fd = open("log.txt", O_WRONLY | O_APPEND);
    must(fd >= 0);
    write_times(fd, 2, 10);
    must(lseek(fd, 0, SEEK_SET) == 0);
    write_times(fd, 1, 10);
    printf("position %lld\n", (long long)lseek(fd, 0, SEEK_CUR));
    expect_posix("log.txt", 2, 4, 1030, 0, 0);
    expect("log.txt", "POSIX_SEEKS", 2);
    expect("log.txt", "POSIX_MAX_BYTE_WRITTEN", 1029);
    return 0;
}
