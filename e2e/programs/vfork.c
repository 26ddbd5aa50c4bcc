/* vfork: the child runs in the parent's memory. Its close calls must not clear the parent's
 * table, and what it does before exec is nobody's. */
#include "expect.h"

int main(void) {
    int fd = open("parent.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 100);
    pid_t child = vfork();
    if (child == 0) {
        close(fd);
        close_range(3, ~0U, 0);
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    must(child > 0);
    int status;
    must(waitpid(child, &status, 0) == child);
    write_times(fd, 4, 100);
    must(close(fd) == 0);
    expect_posix("parent.dat", 1, 5, 500, 0, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
