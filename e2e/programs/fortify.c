/* The entry points of a fortified build (-O2 -D_FORTIFY_SOURCE=2 and 3): the compiler calls
 * __read_chk, __open_2, __fprintf_chk and so on, for which sizes must be known but not constant. */
#include "expect.h"

int main(int count, char **arguments) {
    char bytes[64], text[64];
    size_t length = (size_t)(16 * count);
    int flags = O_RDWR | (count > 5 ? O_APPEND : 0);
    int fd = open("fortified.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 10, 16);
    must(close(fd) == 0);
    fd = open("fortified.dat", flags);
    must(fd >= 0);
    for (int i = 0; i < 5; i++)
        must(read(fd, bytes, length) == (ssize_t)length);
    for (int i = 0; i < 7; i++)
        must(pread(fd, bytes, length, 16 * i) == (ssize_t)length);
    must(pread64(fd, bytes, length, 0) == (ssize_t)length);
    expect_posix("fortified.dat", 2, 10, 160, 13, 208);
    int relative = openat(AT_FDCWD, "fortified.dat", flags);
    must(relative >= 0);
    expect("fortified.dat", "POSIX_OPENS", 1);
    FILE *stream = fopen("fortified.txt", "w+");
    must(stream);
    must(fprintf(stream, "%s %d\n", arguments[0] ? "line" : "", count) == 7);
    must(fwrite("0123456789", 1, 10, stream) == 10);
    rewind(stream);
    must(fgets(text, (int)length * 2, stream) == text);
    must(fread(text, 1, length - 6, stream) == 10);
    must(fclose(stream) == 0);
    expect("fortified.txt", "STDIO_OPENS", 1);
    expect("fortified.txt", "STDIO_WRITES", 2);
    expect("fortified.txt", "STDIO_BYTES_WRITTEN", 17);
    expect("fortified.txt", "STDIO_READS", 2);
    expect("fortified.txt", "STDIO_BYTES_READ", 17);
    expect("fortified.txt", "STDIO_SEEKS", 1);
    printf("%zd bytes at a time\n", length);
    return 0;
}
