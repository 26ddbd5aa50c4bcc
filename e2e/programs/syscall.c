/* I/O through libc's syscall(): the entry is ours to see. */
#include "expect.h"

int main(void) {
    char bytes[64] = {0};
    long fd = syscall(SYS_openat, AT_FDCWD, "raw.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    for (int i = 0; i < 3; i++)
        must(syscall(SYS_write, fd, bytes, 64) == 64);
    must(syscall(SYS_pread64, fd, bytes, 64, 0) == 64);
    must(syscall(SYS_read, 99, bytes, 1) == -1);
    printf("read: %s\n", strerror(errno));
    must(syscall(SYS_gettid) > 0 && syscall(999999) == -1);
    printf("nothing: %s\n", strerror(errno));
    must(syscall(SYS_close, fd) == 0);
    expect_posix("raw.dat", 1, 3, 192, 1, 64);
    return 0;
}
