/* clone(2) without libc: no atfork handler runs, and the child must still not touch the parent's
 * records. It ends with _exit. */
#include "expect.h"
#include <signal.h>

int main(void) {
    int fd = open("shared.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 100);
    pid_t child = (pid_t)bare_syscall(SYS_clone, SIGCHLD, 0, 0, 0);
    must(child >= 0);
    if (child == 0) {
        write_times(fd, 5, 7);
        expect_posix("shared.dat", 0, 5, 35, 0, 0);
        _exit(3);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    write_times(fd, 1, 100);
    expect_posix("shared.dat", 1, 2, 200, 0, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
