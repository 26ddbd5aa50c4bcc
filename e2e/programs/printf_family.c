/* printf with many arguments of all kinds through our shim: fprintf, vfprintf, dprintf, vdprintf,
 * and the fortified forms in another build. */
#include "expect.h"
#include <stdarg.h>

static long through_v(FILE *stream, int fd, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    long stream_bytes = vfprintf(stream, format, list);
    long fd_bytes = vdprintf(fd, format, again);
    va_end(list);
    va_end(again);
    return stream_bytes == fd_bytes ? stream_bytes : -1;
}

int main(void) {
    FILE *stream = fopen("printed.txt", "w");
    int fd = open("raw.txt", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(stream && fd >= 0);
    long one = fprintf(stream, "%d %ld %s %c %f %Lf %g %x %p %e %i %u %lld %5.2f %s %d\n", 1, 2L,
                       "three", '4', 5.0, (long double)6.5, 7.25, 8, (void *)9, 10.5, 11, 12u, 13LL,
                       14.125, "fifteen", 16);
    long raw = dprintf(fd, "%s %f %Lf %d %d %d %d %d %d %d\n", "a", 1.5, (long double)2.5, 1, 2, 3,
                       4, 5, 6, 7);
    long two = through_v(stream, fd, "%s %f %d %Lf %s\n", "list", 1.25, 7, (long double)3.5, "end");
    must(one > 0 && raw > 0 && two > 0);
    must(fclose(stream) == 0);
    expect_stdio("printed.txt", 1, 2, one + two, 0, 0);
    expect_posix("raw.txt", 1, 2, raw + two, 0, 0);
    char text[512];
    int back = open("printed.txt", O_RDONLY);
    ssize_t got = read(back, text, sizeof text - 1);
    must(got == one + two);
    text[got] = 0;
    expect_posix("printed.txt", 1, 0, 0, 1, got);
    fputs(text, stdout);
    return 0;
}
