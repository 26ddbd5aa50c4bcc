/* A child of clone whose thread block is empty, as browsers make one to change their root: nothing of libc's
 * nor of ours can be reached there. It makes hooked calls and leaves by _exit, which ends nobody else's
 * recording. */
#include "expect.h"
#include <sched.h>
#include <signal.h>

static char stack[65536] __attribute__((aligned(16)));
static char block[4096] __attribute__((aligned(64)));

static int child(void *fd) {
    if (chdir("/proc/self/fdinfo") != 0)
        _exit(2);
    if (write(*(int *)fd, "0123456789", 10) != 10)
        _exit(3);
    struct stat found;
    if (stat("/", &found) != 0 || close(*(int *)fd) != 0)
        _exit(4);
    _exit(7);
}

int main(void) {
    int fd = open("empty.dat", O_RDWR | O_CREAT | O_TRUNC, 0644), status;
    must(fd >= 0);
    write_times(fd, 10, 10);
    for (int i = 0; i < 3; i++) {
        memset(block, 0, sizeof block);
        pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, &fd,
                          0, block + 2048, 0);
        must(pid > 0 && waitpid(pid, &status, 0) == pid);
        printf("child: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
    }
    write_times(fd, 10, 10);
    expect_posix("empty.dat", 1, 20, 200, 0, 0);
    return 0;
}
