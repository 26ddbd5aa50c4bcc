/* vfork whose exec fails: the child goes on in the parent's memory and ends with _exit, which must
 * neither close the parent's log nor end its recording. */
#include "expect.h"

int main(void) {
    int fd = open("parent.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 50);
    for (int round = 0; round < 3; round++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/nonexistent/program", "program", (char *)NULL);
            _exit(errno == ENOENT ? 5 : 6);
        }
        must(child > 0);
        int status;
        must(waitpid(child, &status, 0) == child);
        printf("child ended with %d\n", WEXITSTATUS(status));
        write_times(fd, 1, 50);
    }
    expect_posix("parent.dat", 1, 5, 250, 0, 0);
    return 0;
}
