/* RLIMIT_FSIZE: a write beyond it is SIGXFSZ. netra's own segment and log are larger than the
 * limit, and must not bring the signal upon the application. */
#include "expect.h"
#include <signal.h>
#include <sys/resource.h>

static int signals;
static void count(int signal) {
    (void)signal;
    signals++;
}

int main(void) {
    struct rlimit small = {4096, 4096};
    must(signal(SIGXFSZ, count) != SIG_ERR);
    must(setrlimit(RLIMIT_FSIZE, &small) == 0);
    int fd = open("small.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    char bytes[1024] = {0};
    int written = 0;
    while (write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        written++;
    printf("%d writes, then %s and %d signal\n", written, strerror(errno), signals);
    expect_posix("small.dat", 1, written, 1024 * written, 0, 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_DFL);
        int own = open("child.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
        write_times(own, 2, 1000);
        exit(own < 0);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    printf("child: signal %d, code %d\n", WTERMSIG(status), WEXITSTATUS(status));
    return 0;
}
