/* clone(CLONE_VM | CLONE_VFORK): a helper in its parent's memory, that leaves by _exit or exit, whose exec
 * fails or succeeds. Its parent goes on being recorded. */
#include "expect.h"
#include <sched.h>
#include <signal.h>

static char stack[65536] __attribute__((aligned(16)));

static int child(void *way) {
    char *nothing[] = {"nothing", 0}, *something[] = {"true", 0};
    switch (*(int *)way) {
    case 1: execv("/nonexistent/helper", nothing); break;
    case 2: execvp("true", something); break;
    }
    _exit(11);
}

int main(void) {
    int fd = open("borrowed.dat", O_WRONLY | O_CREAT | O_TRUNC, 0644), status;
    must(fd >= 0);
    for (int way = 0; way < 3; way++) {
        write_times(fd, 10, 10);
        pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &way);
        must(pid > 0 && waitpid(pid, &status, 0) == pid);
        printf("child: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
    }
    write_times(fd, 10, 10);
    expect_posix("borrowed.dat", 1, 40, 400, 0, 0);
    return 0;
}
