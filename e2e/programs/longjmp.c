/* siglongjmp out of a handler that interrupted a call, a thousand times: the thread must not stay
 * marked as "inside netra", or all that follows would go unrecorded. */
#include "expect.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf back;

static void handler(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

int main(void) {
    static char bytes[8];
    static volatile int jumps;
    int busy = open("busy.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(busy >= 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    must(sigaction(SIGPROF, &action, NULL) == 0);
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    if (sigsetjmp(back, 1))
        jumps++;
    if (jumps < 200) {
        must(setitimer(ITIMER_PROF, &often, NULL) == 0);
        for (;;)
            if (pwrite(busy, bytes, sizeof bytes, 0) < 0)
                exit(98);
    }
    must(setitimer(ITIMER_PROF, &never, NULL) == 0);
    /* How many of the interrupted writes count is not for the program to know: only opens are. */
    expect("busy.dat", "POSIX_OPENS", 1);
    expect("busy.dat", "POSIX_WRITES", ANY);
    expect("busy.dat", "POSIX_BYTES_WRITTEN", ANY);
    int after = open("after.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(after, 1000, 4);
    expect_posix("after.dat", 1, 1000, 4000, 0, 0);
    printf("jumped %d times\n", jumps);
    return 0;
}
