/* Another preloaded library, for tests/host.rs and tests/stacking.rs: after each write of the
 * application it writes once more, through the hooks below it. The application did not say so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    ssize_t done = next(fd, bytes, length);
    if (fd > 2)
        next(fd, bytes, 0);
    return done;
}
