/* Writes in steps: one byte read from standard input asks for the next step, a byte on standard output says that
 * it is done. Ends without any handler, or by a signal, so that the segment is what is left.
 *
 *   program FILE CALLS */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char byte = 0, bytes[64] = {0};
    long calls = atol(argv[argc - 1]);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    /* Raw calls, so that the steps themselves are not recorded. */
    while (syscall(SYS_read, 0, &byte, 1) == 1) {
        for (long i = 0; i < calls; i++) pwrite(fd, bytes, sizeof bytes, i * sizeof bytes);
        syscall(SYS_write, 1, &byte, 1);
    }
    syscall(SYS_exit_group, 0);
}
