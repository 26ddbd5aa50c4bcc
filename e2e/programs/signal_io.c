/* A handler that does I/O, raised between calls and, by a blocking read that it interrupts,
 * inside one: each of its calls counts, and the interrupted one fails as it does without us. */
#include "expect.h"
#include <signal.h>

static int handler_fd;

static void handler(int signal) {
    (void)signal;
    int kept = errno;
    if (write(handler_fd, "handler", 7) != 7)
        _exit(98);
    errno = kept;
}

int main(void) {
    int fd = open("main.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    handler_fd = open("handler.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && handler_fd >= 0);
    struct sigaction action = {.sa_handler = handler};
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    must(sigaction(SIGALRM, &action, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        write_times(fd, 1, 8);
        must(raise(SIGUSR1) == 0);
    }
    must(mkfifo("pipe", 0644) == 0);
    int fifo = open("pipe", O_RDWR);
    must(fifo >= 0);
    alarm(1);
    char byte;
    ssize_t got = read(fifo, &byte, 1);
    printf("read gave %zd: %s\n", got, strerror(errno));
    expect_posix("main.dat", 1, 100, 800, 0, 0);
    expect_posix("handler.dat", 1, 101, 707, 0, 0);
    expect_posix("pipe", 1, 0, 0, 0, 0);
    return 0;
}
