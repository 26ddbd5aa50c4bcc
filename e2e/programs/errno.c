/* Calls that fail in every usual way: the same result and errno as without netra, and no record of
 * a success. A call that succeeds leaves errno alone. */
#include "expect.h"
#include <signal.h>
#include <sys/uio.h>

static void report(const char *what, long result) {
    printf("%s: %ld %s\n", what, result, result == -1 ? strerror(errno) : "");
}

static void open_failures(void) {
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    must(symlink("loop", "loop") == 0 && mkdir("directory", 0755) == 0);
    report("ENOENT", open("nothing", O_RDONLY));
    report("ENOTDIR", open("file.dat/below", O_RDONLY));
    report("EISDIR", open("directory", O_WRONLY));
    report("ELOOP", open("loop", O_RDONLY));
    report("ENAMETOOLONG", open(name, O_RDONLY));
    report("EEXIST", open("file.dat", O_CREAT | O_EXCL, 0644));
    report("EFAULT", open((char *)1, O_RDONLY));
    report("ENXIO", (mkfifo("pipe", 0644), open("pipe", O_WRONLY | O_NONBLOCK)));
    report("EBADF", openat(99, "file.dat", O_RDONLY));
    report("EINVAL", open("file.dat", O_TMPFILE | O_RDONLY, 0644));
    report("creat", creat("directory", 0644));
}

static void data_failures(int fd) {
    char bytes[8];
    struct iovec bad = {(void *)1, 8};
    int reader = open("file.dat", O_RDONLY), directory = open("directory", O_RDONLY), ends[2];
    must(pipe(ends) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    report("read EBADF", read(99, bytes, 8));
    report("read EISDIR", read(directory, bytes, 8));
    report("read EFAULT", read(fd, (void *)1, 8));
    report("pread EINVAL", pread(fd, bytes, 8, -1));
    report("pread ESPIPE", pread(ends[0], bytes, 8, 0));
    report("write EBADF", write(reader, bytes, 8));
    report("write EFAULT", write(fd, (void *)1, 8));
    report("writev EFAULT", writev(fd, &bad, 1));
    report("writev EINVAL", writev(fd, &bad, 5000));
    report("write EPIPE", (close(ends[0]), write(ends[1], bytes, 8)));
    report("lseek EINVAL", lseek(fd, -1, SEEK_SET));
    report("lseek ESPIPE", lseek(ends[1], 0, SEEK_SET));
    report("fsync EBADF", fsync(99));
    report("fsync EINVAL", fsync(ends[1]));
    report("dup EBADF", dup(99));
    report("fcntl EBADF", fcntl(99, F_GETFL));
    report("fcntl EINVAL", fcntl(fd, 999999, 0));
    report("close EBADF", close(99));
    report("rename", rename("nothing", "something"));
    report("rename EISDIR", rename("file.dat", "directory"));
}

int main(void) {
    int fd = open("file.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    open_failures();
    data_failures(fd);
    errno = 77;
    write_times(fd, 1, 8);
    must(lseek(fd, 0, SEEK_SET) == 0 && dup(fd) >= 0);
    printf("errno after success: %d\n", errno);
    /* The read into a bad address found the end of the file first, so it succeeded. */
    expect_posix("file.dat", 3, 1, 8, 1, 0);
    expect("file.dat", "POSIX_DUPS", 1);
    expect("file.dat", "POSIX_SEEKS", 1);
    expect("directory", "POSIX_OPENS", 1);
    return 0;
}
