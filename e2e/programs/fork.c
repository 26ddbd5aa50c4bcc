/* fork: parent and child both go on with the inherited descriptor; each has its own log. */
#include "expect.h"

int main(void) {
    int fd = open("shared.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 100);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        write_times(fd, 5, 7);
        int own = open("child.dat", O_RDWR | O_CREAT, 0644);
        write_times(own, 1, 3);
        expect_posix("shared.dat", 0, 5, 35, 0, 0);
        expect_posix("child.dat", 1, 1, 3, 0, 0);
        exit(7);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    write_times(fd, 3, 100);
    must(close(fd) == 0);
    expect_posix("shared.dat", 1, 5, 500, 0, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
