/* An exec that fails: the image goes on, and so do its records. */
#include "expect.h"

int main(void) {
    int fd = open("kept.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 10);
    execl("/nonexistent/program", "program", (char *)NULL);
    printf("exec: %s\n", strerror(errno));
    write_times(fd, 3, 10);
    expect_posix("kept.dat", 1, 5, 50, 0, 0);
    return 0;
}
