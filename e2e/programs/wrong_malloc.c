/* A bad guest, for tests/host.rs: it allocates inside a hook. The tripwire must end the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    void *volatile block = malloc(10);
    free(block);
    return real(fd, bytes, length);
}
