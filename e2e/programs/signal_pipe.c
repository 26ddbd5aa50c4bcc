/* What a launcher's handler of SIGCHLD does, under a loop of writes: it tells its main loop through a pipe,
 * in the middle of netra's own bookkeeping. It also writes to a file that nobody saw being opened, and
 * makes a call that fails: all of it is put aside, and recorded a moment later as if nothing had been
 * interrupted. */
#include "expect.h"
#include <signal.h>
#include <sys/time.h>

static int pipe_ends[2], unseen_fd;
static volatile long handled;

static void handler(int signal) {
    (void)signal;
    int kept = errno;
    char byte;
    if (write(pipe_ends[1], "x", 1) == 1 && write(unseen_fd, "0123456789", 10) == 10 &&
        read(unseen_fd, &byte, 1) == -1)
        handled++;
    errno = kept;
}

int main(void) {
    static char bytes[8];
    int fd = open("main.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && pipe(pipe_ends) == 0);
    unseen_fd = (int)bare_syscall(SYS_openat, AT_FDCWD, (long)"unseen.dat",
                                  O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(unseen_fd >= 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    must(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    must(setitimer(ITIMER_PROF, &often, NULL) == 0);
    for (long i = 0; i < 300000; i++)
        must(pwrite(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    must(setitimer(ITIMER_PROF, &never, NULL) == 0);
    must(handled > 0);
    expect_posix("main.dat", 1, 300000, 2400000, 0, 0);
    expect_posix("unseen.dat", 0, handled, 10 * handled, 0, 0);
    expect_calls("write", 2 * handled);
    expect_calls("read", handled);
    expect_none_inside();
    /* How often it ran is chance; the files left behind must not be. */
    must(truncate("unseen.dat", 0) == 0);
    printf("done\n");
    return 0;
}
