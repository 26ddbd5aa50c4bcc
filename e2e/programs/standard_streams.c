/* The three standard streams have names of their own, and what goes through them is counted. */
#include "expect.h"

int main(void) {
    long out = 0, error = 0, calls = 0;
    out += printf("%s %d\n", "printf", 1), calls++;
    out += puts("puts") >= 0 ? 5 : 0, calls++;
    out += putchar('p') == 'p', calls++;
    out += putchar_unlocked('\n') == '\n', calls++;
    out += fwrite("fwrite\n", 1, 7, stdout), calls++;
    error += fprintf(stderr, "error %d\n", 2);
    error += fputs("more\n", stderr) >= 0 ? 5 : 0;
    must(getchar() == EOF);
    must(fflush(stdout) == 0);
    expect_stdio("<STDOUT>", 1, calls, out, 0, 0);
    expect("<STDOUT>", "STDIO_FLUSHES", 1);
    expect_stdio("<STDERR>", 1, 2, error, 0, 0);
    return 0;
}
