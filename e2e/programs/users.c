/* A worker that gives up root, in every way there is, and its child, which does its first I/O as the other user: both
 * are recorded exactly. One goes to and fro between users, and nobody notices. */
#include "expect.h"

static int drop(int how) {
    if (geteuid() != 0)
        return 0;
    switch (how) {
    case 0: return setuid(65534);
    case 1: return seteuid(65534) || seteuid(0) || seteuid(65533);
    case 2: return setreuid(65534, 65534);
    default: return setresuid(65534, 65534, 65534);
    }
}

static void ended_well(pid_t pid) {
    int status;
    must(pid > 0 && waitpid(pid, &status, 0) == pid);
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    static const char *names[] = {"u0", "u1", "u2", "u3"};
    /* Whoever they are by then, they say what they did. */
    const char *said = getenv("E2E_EXPECT_DIR");
    if (said)
        bare_syscall(SYS_fchmodat, AT_FDCWD, (long)said, 0777, 0);
    for (int how = 0; how < 4; how++) {
        int fd = open(names[how], O_RDWR | O_CREAT | O_TRUNC, 0644);
        must(fd >= 0);
        expect_posix(names[how], 1, 0, 0, 0, 0);
        pid_t worker = fork();
        if (worker == 0) {
            errno = 77;
            must(drop(how) == 0 && errno == 77);
            pid_t child = fork();
            if (child == 0) {
                write_times(fd, 5, 7);
                expect_posix(names[how], 0, 5, 35, 0, 0);
                _exit(0);
            }
            ended_well(child);
            write_times(fd, 1000, 10);
            expect_posix(names[how], 0, 1000, 10000, 0, 0);
            _exit(0);
        }
        ended_well(worker);
        must(close(fd) == 0);
    }
    errno = 77;
    must(seteuid(-1) == -1 && errno == EINVAL);
    printf("four workers and their children wrote\n");
    return 0;
}
