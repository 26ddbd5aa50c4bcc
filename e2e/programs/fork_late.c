/* A child that is forked long after its parent began: its recording begins with its first call, not at that
 * call's end, so no call of it lies before its beginning. */
#include "expect.h"
#include <time.h>

int main(void) {
    int first = open("first.dat", O_WRONLY | O_CREAT | O_TRUNC, 0644), status;
    write_times(first, 1, 1);
    /* A tenth of a second of the processor's time: nothing is waited for. */
    while (clock() < CLOCKS_PER_SEC / 10)
        ;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        int fd = open("late.dat", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        write_times(fd, 1, 3);
        close(fd);
        expect_posix("late.dat", 1, 1, 3, 0, 0);
        _exit(3);
    }
    must(waitpid(child, &status, 0) == child);
    expect_posix("first.dat", 1, 1, 1, 0, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
