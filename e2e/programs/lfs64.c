/* The 64-bit file API by its own names: open64, pread64, lseek64, fstat64 … */
#define _LARGEFILE64_SOURCE
#include "expect.h"
#include <sys/uio.h>

int main(void) {
    char bytes[100] = {0};
    struct iovec two[2] = {{bytes, 40}, {bytes + 40, 60}};
    int fd = open64("large.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    off64_t far = 5LL << 30;
    must(pwrite64(fd, bytes, 100, far) == 100);
    must(pread64(fd, bytes, 100, far) == 100);
    must(lseek64(fd, far, SEEK_SET) == far);
    must(read(fd, bytes, 100) == 100);
    must(pwritev64(fd, two, 2, far + 100) == 100);
    must(preadv64(fd, two, 2, far) == 100);
    must(pwritev64v2(fd, two, 2, far + 200, 0) == 100);
    must(preadv64v2(fd, two, 2, far, 0) == 100);
    must(writev(fd, two, 2) == 100);
    must(ftruncate64(fd, far) == 0);
    must(truncate64("large.dat", far + 10) == 0);
    struct stat64 facts;
    must(fstat64(fd, &facts) == 0);
    must(stat64("large.dat", &facts) == 0);
    must(lstat64("large.dat", &facts) == 0);
    must(fstatat64(AT_FDCWD, "large.dat", &facts, 0) == 0);
    int again = openat64(AT_FDCWD, "large.dat", O_RDONLY);
    int third = creat64("created.dat", 0600);
    must(again >= 0 && third >= 0);
    expect_posix("large.dat", 2, 4, 400, 4, 400);
    expect("large.dat", "POSIX_SEEKS", 1);
    expect("large.dat", "POSIX_STATS", 4);
    expect("large.dat", "POSIX_MAX_BYTE_WRITTEN", far + 299);
    expect("created.dat", "POSIX_OPENS", 1);
    expect("created.dat", "POSIX_MODE", 0600);
    printf("%lld bytes\n", (long long)facts.st_size);
    return 0;
}
