/* A bad guest, for tests/host.rs: it writes one byte twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (length > 0 && fd > 2)
        real(fd, bytes, 1);
    return real(fd, bytes, length);
}
