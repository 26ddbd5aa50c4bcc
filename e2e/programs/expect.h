/* What a program says about its own I/O: `expect("out.dat", "POSIX_WRITES", 12)` appends a line
 * to the file `expect.<pid>.<program>` of the directory it was started in. Several lines for one
 * counter add up; a counter that is not mentioned must be 0 in the log.
 *
 * The lines are written with bare system calls: no preloaded library sees them, they work with
 * every descriptor closed, in a signal handler and between fork and exec, and errno stays. */
#ifndef NETRA_EXPECT_H
#define NETRA_EXPECT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static inline long bare_syscall(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#else
#error "bare_syscall: add this architecture"
#endif
}

/* Appends text or a number at `*end` and moves it. */
static inline void expect_text(char **end, const char *text) {
    while (*text)
        *(*end)++ = *text++;
}

static inline void expect_number(char **end, long value) {
    char digits[24];
    int n = 0;
    unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;
    if (value < 0)
        *(*end)++ = '-';
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    while (n)
        *(*end)++ = digits[--n];
}

/* The directory must not depend on a later chdir: the harness gives it absolutely. */
static inline void expect(const char *file, const char *counter, long value) {
    char name[600], line[400], *end = name;
    const char *directory = getenv("E2E_EXPECT_DIR");
    expect_text(&end, directory ? directory : ".");
    expect_text(&end, "/expect.");
    expect_number(&end, bare_syscall(SYS_getpid, 0, 0, 0, 0));
    expect_text(&end, ".");
    expect_text(&end, program_invocation_short_name);
    *end = 0;
    end = line;
    expect_text(&end, file);
    expect_text(&end, " ");
    expect_text(&end, counter);
    expect_text(&end, " ");
    expect_number(&end, value);
    expect_text(&end, "\n");
    long fd = bare_syscall(SYS_openat, AT_FDCWD, (long)name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0)
        return;
    bare_syscall(SYS_write, fd, (long)line, end - line, 0);
    bare_syscall(SYS_close, fd, 0, 0, 0);
}

/* A value that depends on chance: only that the record exists is sure. */
#define ANY (-1)

/* How often a function was called, failed calls included; for what no Darshan counter stands for. */
static inline void expect_calls(const char *function, long calls) {
    expect("<calls>", function, calls);
}

/* No call was left out because it came from inside netra's own work. */
static inline void expect_none_inside(void) {
    expect_calls("<inside>", 0);
}

/* The usual five of a file that was opened once, written and read. */
static inline void expect_posix(const char *file, long opens, long writes, long bytes_written,
                                long reads, long bytes_read) {
    expect(file, "POSIX_OPENS", opens);
    expect(file, "POSIX_WRITES", writes);
    expect(file, "POSIX_BYTES_WRITTEN", bytes_written);
    expect(file, "POSIX_READS", reads);
    expect(file, "POSIX_BYTES_READ", bytes_read);
}

/* The same for streams. */
static inline void expect_stdio(const char *file, long opens, long writes, long bytes_written,
                                long reads, long bytes_read) {
    expect(file, "STDIO_OPENS", opens);
    expect(file, "STDIO_WRITES", writes);
    expect(file, "STDIO_BYTES_WRITTEN", bytes_written);
    expect(file, "STDIO_READS", reads);
    expect(file, "STDIO_BYTES_READ", bytes_read);
}

/* A program that cannot do what it is there for says so and fails: a silent pass proves nothing. */
#define must(call)                                                                                 \
    do {                                                                                           \
        if (!(call)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, strerror(errno));        \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

/* Writes `length` bytes `times` times. */
static inline void write_times(int fd, int times, int length) {
    static char zeros[65536];
    for (int i = 0; i < times; i++)
        must(write(fd, zeros, (size_t)length) == length);
}
#endif
