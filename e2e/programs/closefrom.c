/* closefrom (glibc 2.34) and a loop of close over a thousand numbers. */
#include "expect.h"

int main(void) {
    int fd = open("first.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 10);
    closefrom(3);
    int again = open("second.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(again == fd);
    write_times(again, 3, 10);
    int closed = 0;
    for (int number = 3; number < 1000; number++)
        closed += close(number) == 0;
    printf("closed %d\n", closed);
    int third = open("third.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(third, 4, 10);
    expect_posix("first.dat", 1, 2, 20, 0, 0);
    expect_posix("second.dat", 1, 3, 30, 0, 0);
    expect_posix("third.dat", 1, 4, 40, 0, 0);
    return 0;
}
