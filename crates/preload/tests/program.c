/* Writes in steps: one byte read from standard input asks for the next step, a byte on standard output says that
 * it is done. Ends without any handler, or by a signal, so that the segment is what is left.
 *
 *   program FILE CALLS */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Past the C library, so that the steps themselves are not seen: its `syscall` is hooked too. */
static long raw(long number, long a, void *b, long c)
{
#if defined(__x86_64__)
    long done;
    __asm__ volatile("syscall" : "=a"(done) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return done;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x2 __asm__("x2") = c;
    register void *x1 __asm__("x1") = b;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

int main(int argc, char **argv)
{
    char byte = 0, bytes[64] = {0};
    long calls = atol(argv[argc - 1]);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    while (raw(SYS_read, 0, &byte, 1) == 1) {
        for (long i = 0; i < calls; i++) pwrite(fd, bytes, sizeof bytes, i * sizeof bytes);
        raw(SYS_write, 1, &byte, 1);
    }
    raw(SYS_exit_group, 0, 0, 0);
}
