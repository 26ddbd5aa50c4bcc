/* POSIX calls of a workload, checked: one system call each, and a short one is a failure, because the
 * number of calls is part of what a workload promises. */
#ifndef POSIX_H
#define POSIX_H

#include "crew.h"
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

static int posix_open(const char *name, int flags)
{
    int fd = open(name, flags, 0644);
    if (fd < 0)
        crew_fail("open %s: %s", name, strerror(errno));
    return fd;
}

static void posix_close(int fd, const char *name)
{
    if (close(fd))
        crew_fail("close %s: %s", name, strerror(errno));
}

static void posix_whole(ssize_t moved, size_t length, const char *call, const char *name)
{
    if (moved < 0)
        crew_fail("%s %s: %s", call, name, strerror(errno));
    if ((size_t)moved != length)
        crew_fail("%s %s: %zd of %zu bytes", call, name, moved, length);
}

static void posix_write(int fd, const char *name, const void *data, size_t length)
{
    posix_whole(write(fd, data, length), length, "write", name);
}

static void posix_read(int fd, const char *name, void *data, size_t length)
{
    posix_whole(read(fd, data, length), length, "read", name);
}

static void posix_pwrite(int fd, const char *name, const void *data, size_t length, long long offset)
{
    posix_whole(pwrite(fd, data, length, offset), length, "pwrite", name);
}

static void posix_pread(int fd, const char *name, void *data, size_t length, long long offset)
{
    posix_whole(pread(fd, data, length, offset), length, "pread", name);
}

static void posix_fsync(int fd, const char *name)
{
    if (fsync(fd))
        crew_fail("fsync %s: %s", name, strerror(errno));
}

#endif
