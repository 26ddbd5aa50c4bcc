/* readv and writev in all forms, with empty parts and a short read at the end. */
#include "expect.h"
#include <sys/uio.h>

int main(void) {
    char a[10] = {0}, b[20] = {0}, c[1] = {0};
    struct iovec parts[3] = {{a, 10}, {c, 0}, {b, 20}};
    int fd = open("vector.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    must(writev(fd, parts, 3) == 30);
    must(pwritev(fd, parts, 3, 30) == 30);
    must(pwritev2(fd, parts, 3, 60, 0) == 30);
    must(pwritev2(fd, parts, 3, -1, 0) == 30);
    must(preadv(fd, parts, 3, 0) == 30);
    must(preadv2(fd, parts, 3, 80, 0) == 10);
    must(lseek(fd, 85, SEEK_SET) == 85);
    must(readv(fd, parts, 3) == 5);
    must(readv(fd, parts, 3) == 0);
    must(writev(fd, parts, -1) == -1);
    printf("writev of -1 parts: %s\n", strerror(errno));
    expect_posix("vector.dat", 1, 4, 120, 4, 45);
    expect("vector.dat", "POSIX_SEEKS", 1);
    expect("vector.dat", "POSIX_MAX_BYTE_WRITTEN", 89);
    expect("vector.dat", "POSIX_SIZE_WRITE_0_100", 4);
    return 0;
}
