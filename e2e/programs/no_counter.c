/* A process that takes the processor's counter from itself (PR_SET_TSC), and gets it back, and a child that
 * inherits the lack. libc's clocks read the counter too: only calls of the kernel tell the time meanwhile. (The
 * loader reads it: no image can begin so.) */
#include "expect.h"
#include <pthread.h>
#include <sys/prctl.h>

static void *beside(void *given) {
    write_times(*(int *)given, 10, 10);
    return 0;
}

int main(void) {
#ifdef PR_SET_TSC
    int fd = open("lacking.dat", O_RDWR | O_CREAT | O_TRUNC, 0644), status, state;
    must(fd >= 0);
    write_times(fd, 2, 10);
    int works = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0;
    write_times(fd, 20, 10);
    must(prctl(PR_SET_TSC, 77, 0, 0, 0) == -1 && errno == EINVAL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        write_times(fd, 3, 10);
        expect_posix("lacking.dat", 0, 3, 30, 0, 0);
        _exit(3);
    }
    must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    must(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0);
    write_times(fd, 4, 10);
    must(prctl(PR_GET_TSC, &state, 0, 0, 0) == 0 && state == PR_TSC_ENABLE);
    /* A thread keeps what it inherited. */
    pthread_t thread;
    must(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
    must(pthread_create(&thread, 0, beside, &fd) == 0);
    must(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0);
    must(pthread_join(thread, 0) == 0);
    write_times(fd, 1, 10);
    expect_posix("lacking.dat", 1, 37, 370, 0, 0);
    printf("counter %s\n", works ? "out of reach, and back" : "stays");
#endif
    return 0;
}
