/* A table of calls and bytes by function, written to $WORKLOAD_COUNT.<layer>.<process> when the
 * process ends. Each counting library is preloaded, has its own copy, and passes every call on. */
#ifndef COUNT_H
#define COUNT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct count {
    const char *function;
    long long calls, bytes;
};

static struct count count_table[64];

/* Functions are told apart by address: each wrapper passes its own literal. Safe from several threads. */
static void count_add(const char *function, long long bytes)
{
    for (struct count *row = count_table; row < count_table + 64; row++) {
        const char *none = NULL;
        if (__atomic_load_n(&row->function, __ATOMIC_ACQUIRE) == function
            || __atomic_compare_exchange_n(&row->function, &none, function, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
            || none == function) {
            __atomic_add_fetch(&row->calls, 1, __ATOMIC_RELAXED);
            __atomic_add_fetch(&row->bytes, bytes, __ATOMIC_RELAXED);
            return;
        }
    }
    abort(); /* more functions than rows: make the table longer */
}

/* Plain system calls, so that a library that counts stdio does not count itself. */
static void count_write(const char *layer)
{
    const char *prefix = getenv("WORKLOAD_COUNT");
    if (!prefix)
        return;
    char line[512];
    snprintf(line, sizeof line, "%s.%s.%d", prefix, layer, (int)getpid());
    int fd = open(line, O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (struct count *row = count_table; row < count_table + 64 && row->function; row++) {
        int length = snprintf(line, sizeof line, "%s %s %lld %lld\n", layer, row->function, row->calls, row->bytes);
        if (fd < 0 || write(fd, line, (size_t)length) != length)
            abort();
    }
    close(fd);
}

#define COUNT_NEXT(function) ((__typeof__(&function))count_next(#function))

static void *count_next(const char *function)
{
    void *next = dlsym(RTLD_NEXT, function);
    if (!next)
        abort();
    return next;
}

#endif
