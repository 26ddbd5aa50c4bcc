/* freopen: the stream keeps its address and gets another file. */
#include "expect.h"

int main(void) {
    FILE *stream = fopen("before.txt", "w");
    must(stream);
    must(fputs("0123456789", stream) >= 0);
    must(freopen("after.txt", "w", stream) == stream);
    must(fputs("abc", stream) >= 0);
    must(fputs("def", stream) >= 0);
    must(freopen("/nonexistent/file", "w", stream) == NULL);
    printf("freopen: %s\n", strerror(errno));
    int fd = open("raw.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 2, 4);
    expect("before.txt", "STDIO_OPENS", 1);
    expect("before.txt", "STDIO_WRITES", 1);
    expect("before.txt", "STDIO_BYTES_WRITTEN", 10);
    expect("after.txt", "STDIO_OPENS", 1);
    expect("after.txt", "STDIO_WRITES", 2);
    expect("after.txt", "STDIO_BYTES_WRITTEN", 6);
    expect_posix("raw.dat", 1, 2, 8, 0, 0);
    return 0;
}
