/* A profiling timer whose handler writes, under a loop of writes: handlers land inside netra's own
 * bookkeeping. What they do there is put aside and recorded a moment later: nothing is lost. */
#include "expect.h"
#include <signal.h>
#include <sys/time.h>

static int handler_fd;
static volatile long handled;

static void handler(int signal) {
    (void)signal;
    int kept = errno;
    if (write(handler_fd, "0123456789", 10) == 10)
        handled++;
    errno = kept;
}

int main(void) {
    static char bytes[8];
    int fd = open("main.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    handler_fd = open("handler.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && handler_fd >= 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    must(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    must(setitimer(ITIMER_PROF, &often, NULL) == 0);
    for (long i = 0; i < 300000; i++)
        must(pwrite(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    must(setitimer(ITIMER_PROF, &never, NULL) == 0);
    expect_posix("main.dat", 1, 300000, 2400000, 0, 0);
    expect_posix("handler.dat", 1, handled, 10 * handled, 0, 0);
    expect_calls("write", handled);
    expect_none_inside();
    /* How often it ran is chance; the files left behind must not be. */
    must(truncate("handler.dat", 0) == 0);
    printf("done\n");
    return 0;
}
