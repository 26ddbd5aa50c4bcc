/* stat in all its forms, old and new; only regular files count as POSIX_STATS, and only success. */
#include "expect.h"

extern int __xstat(int version, const char *path, struct stat *facts);
extern int __lxstat(int version, const char *path, struct stat *facts);
extern int __fxstat(int version, int fd, struct stat *facts);
extern int __fxstatat(int version, int directory, const char *path, struct stat *facts, int flags);

int main(void) {
    struct stat facts;
    struct statx wide;
    int fd = open("facts.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 10);
    must(stat("facts.dat", &facts) == 0 && lstat("facts.dat", &facts) == 0);
    must(fstat(fd, &facts) == 0);
    must(fstatat(AT_FDCWD, "facts.dat", &facts, 0) == 0);
    must(fstatat(fd, "", &facts, AT_EMPTY_PATH) == 0);
    must(statx(AT_FDCWD, "facts.dat", 0, STATX_SIZE, &wide) == 0);
    must(__xstat(1, "facts.dat", &facts) == 0 && __lxstat(1, "facts.dat", &facts) == 0);
    must(__fxstat(1, fd, &facts) == 0);
    must(__fxstatat(1, AT_FDCWD, "facts.dat", &facts, 0) == 0);
    must(stat(".", &facts) == 0);
    must(stat("nothing.dat", &facts) == -1);
    printf("stat: %s\n", strerror(errno));
    must(fstat(99, &facts) == -1);
    printf("fstat: %s\n", strerror(errno));
    expect_posix("facts.dat", 1, 1, 10, 0, 0);
    expect("facts.dat", "POSIX_STATS", 10);
    return 0;
}
