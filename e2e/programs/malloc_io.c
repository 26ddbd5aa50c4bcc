/* An allocator that writes to a file of its own: if a hook allocated, it would come back to us. */
#include "expect.h"
#include <dlfcn.h>

static int trace = -1;
static long traced;
extern void *__libc_malloc(size_t size);

void *malloc(size_t size) {
    if (trace >= 0) {
        traced++;
        if (write(trace, "malloc", 6) != 6)
            _exit(95);
    }
    return __libc_malloc(size);
}

int main(void) {
    trace = open("trace.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int fd = open("data.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(trace >= 0 && fd >= 0);
    for (int i = 0; i < 100; i++) {
        write_times(fd, 1, 10);
        void *volatile block = malloc(100);
        free(block);
    }
    long last = traced;
    expect_posix("data.dat", 1, 100, 1000, 0, 0);
    expect_posix("trace.dat", 1, last, 6 * last, 0, 0);
    trace = -1;
    printf("traced %ld\n", last);
    return 0;
}
