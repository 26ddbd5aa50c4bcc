/* A bad guest, for tests/host.rs: it spoils errno after a successful write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    ssize_t done = real(fd, bytes, length);
    errno = done < 0 ? errno : EAGAIN;
    return done;
}
