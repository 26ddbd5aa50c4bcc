/* fcloseall: every stream is closed inside libc, and the numbers are free. */
#include "expect.h"

int main(void) {
    printf("before\n");
    FILE *stream = fopen("stream.txt", "w");
    must(stream && fputs("hello", stream) >= 0);
    int number = fileno(stream);
    must(fcloseall() == 0);
    int fd = open("after.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return 1;
    write_times(fd, 3, 7);
    expect_stdio("stream.txt", 1, 1, 5, 0, 0);
    expect("stream.txt", "POSIX_OPENS", 1);
    expect("stream.txt", "POSIX_FILENOS", 1);
    expect_posix("after.dat", 1, 3, 21, 0, 0);
    return number > 2 ? 0 : 2;
}
