/* exec: the first image leaves by execv with a file open; the second one inherits the descriptor and
 * is known by a name that /proc gives. Each image has its own log; the argument is the second. */
#include "expect.h"

static int second(int fd) {
    static char bytes[16];
    must(lseek(fd, 0, SEEK_SET) == 0);
    for (int i = 0; i < 6; i++)
        must(read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes);
    /* The very first call of the new image, on a descriptor nobody saw it open. */
    expect("inherited.dat", "POSIX_SEEKS", 1);
    expect_calls("lseek", 1);
    expect_posix("inherited.dat", 0, 0, 0, 6, 96);
    printf("second image read 96 bytes\n");
    return 11;
}

int main(int count, char **arguments) {
    must(count == 2);
    if (arguments[1][0] != '/')
        return second(atoi(arguments[1]));
    int fd = open("inherited.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 4, 32);
    expect_posix("inherited.dat", 1, 4, 128, 0, 0);
    char number[12];
    snprintf(number, sizeof number, "%d", fd);
    printf("first image wrote 128 bytes\n");
    fflush(stdout);
    execl(arguments[1], arguments[1], number, (char *)NULL);
    must(!"exec returned");
}
