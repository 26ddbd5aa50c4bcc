/* I/O before every constructor (.preinit_array) and in a constructor of the executable: the first
 * call may come before netra's own start. */
#include "expect.h"

static void before_all(void) {
    int fd = open("preinit.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 1, 3);
    close(fd);
}
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = before_all;

__attribute__((constructor)) static void at_start(void) {
    int fd = open("constructor.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 2, 3);
    close(fd);
}

int main(void) {
    expect_posix("preinit.dat", 1, 1, 3, 0, 0);
    expect_posix("constructor.dat", 1, 2, 6, 0, 0);
    printf("main\n");
    return 0;
}
