/* I/O in atexit handlers and in destructors of the executable: they run around our own
 * destructor, and are counted while anything can be. */
#include "expect.h"

static int fd = -1;

static void at_exit(void) {
    write_times(fd, 2, 10);
    expect_posix("exit.dat", 0, 2, 20, 0, 0);
}

__attribute__((destructor)) static void at_the_end(void) {
    write_times(fd, 3, 10);
    expect_posix("exit.dat", 0, 3, 30, 0, 0);
}

int main(void) {
    fd = open("exit.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && atexit(at_exit) == 0);
    write_times(fd, 1, 10);
    expect_posix("exit.dat", 1, 1, 10, 0, 0);
    printf("main is done\n");
    return 0;
}
