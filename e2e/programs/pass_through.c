/* Another preloaded library, for tests/stacking.rs: it forwards to the next one and counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

static long passed;

ssize_t write(int fd, const void *bytes, size_t length) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        next = dlsym(RTLD_NEXT, "write");
    passed++;
    return next(fd, bytes, length);
}

int open(const char *path, int flags, ...) {
    static int (*next)(const char *, int, ...);
    if (!next)
        next = dlsym(RTLD_NEXT, "open");
    va_list list;
    va_start(list, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
    va_end(list);
    passed++;
    return next(path, flags, mode);
}
