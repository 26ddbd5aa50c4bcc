/* fdopen, then fclose: libc closes the descriptor inside, and its number is another file's next. */
#include "expect.h"

int main(void) {
    int fd = open("stream.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 10);
    FILE *stream = fdopen(fd, "r+");
    must(stream);
    must(fputs("hello", stream) >= 0);
    must(fclose(stream) == 0);
    int again = open("other.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(again == fd);
    write_times(again, 3, 7);
    expect_posix("stream.dat", 1, 1, 10, 0, 0);
    expect_posix("other.dat", 1, 3, 21, 0, 0);
    expect("stream.dat", "STDIO_FDOPENS", 1);
    expect("stream.dat", "STDIO_OPENS", 1);
    expect("stream.dat", "STDIO_WRITES", 1);
    expect("stream.dat", "STDIO_BYTES_WRITTEN", 5);
    printf("number used again\n");
    return 0;
}
