/* Every hooked call through libc's syscall(), as runtimes that bring wrappers of their own make them: each is the
 * call it is, descriptors and positions move with them. */
#include "expect.h"
#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <utime.h>

#define sys(...) syscall(__VA_ARGS__)

static char bytes[1000];

static void moving(void) {
    int a = (int)sys(SYS_openat, AT_FDCWD, "a.dat", O_RDWR | O_CREAT | O_TRUNC, 0640);
    int b = (int)sys(SYS_openat, AT_FDCWD, "b.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(a >= 0 && b >= 0);
    struct iovec parts[2] = {{bytes, 600}, {bytes + 600, 400}};
    must(sys(SYS_write, a, bytes, 1000) == 1000);
    must(sys(SYS_pwrite64, a, bytes, 1000, 1000L) == 1000);
    must(sys(SYS_writev, a, parts, 2) == 1000);
    must(sys(SYS_pwritev, a, parts, 2, 2000L, 0L) == 1000);
    must(sys(SYS_pwritev2, a, parts, 2, 3000L, 0L, 0) == 1000);
    must(sys(SYS_pwritev2, a, parts, 2, -1L, -1L, 0) == 1000);
    must(sys(SYS_lseek, a, 0L, SEEK_SET) == 0);
    must(sys(SYS_read, a, bytes, 1000) == 1000);
    must(sys(SYS_pread64, a, bytes, 1000, 1000L) == 1000);
    must(sys(SYS_readv, a, parts, 2) == 1000);
    must(sys(SYS_preadv, a, parts, 2, 2000L, 0L) == 1000);
    must(sys(SYS_preadv2, a, parts, 2, 1000L, 0L, 0) == 1000);
    must(sys(SYS_preadv2, a, parts, 2, -1L, -1L, 0) == 1000);
    /* The position is 3000, and the file has 4000 bytes. */
    loff_t first = 0, second = 0;
    must(sys(SYS_copy_file_range, a, &first, b, &second, 1000L, 0) == 1000);
    off_t start = 1000;
    must(sys(SYS_lseek, b, 1000L, SEEK_SET) == 1000);
    must(sys(SYS_sendfile, b, a, &start, 1000L) == 1000);
    int ends[2], more[2];
    must(pipe(ends) == 0 && pipe(more) == 0);
    must(sys(SYS_splice, a, NULL, ends[1], NULL, 1000L, 0) == 1000);
    must(sys(SYS_tee, ends[0], more[1], 1000L, 0) == 1000);
    must(sys(SYS_vmsplice, more[1], parts, 1L, 0) == 600);
    must(sys(SYS_splice, ends[0], NULL, b, NULL, 1000L, 0) == 1000);
    must(sys(SYS_fsync, a) == 0 && sys(SYS_fdatasync, a) == 0);
    must(sys(SYS_sync_file_range, a, 0L, 0L, 0) == 0);
    must(sys(SYS_ftruncate, b, 5000L) == 0 && sys(SYS_fallocate, b, 0, 0L, 6000L) == 0);
    must(sys(SYS_fadvise64, b, 0L, 0L, POSIX_FADV_RANDOM) == 0);
    must(sys(SYS_readahead, b, 0L, 100L) == 0);
    void *place = (void *)sys(SYS_mmap, NULL, 4096L, PROT_READ, MAP_SHARED, a, 0L);
    must(place != MAP_FAILED && sys(SYS_msync, place, 4096L, MS_SYNC) == 0);
    must((void *)sys(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) != MAP_FAILED);
    must(sys(SYS_fchmod, b, 0644) == 0 && sys(SYS_flock, b, 8) == 0 && sys(SYS_syncfs, b) == 0);
    must(sys(SYS_close, a) == 0 && sys(SYS_close, b) == 0);
    expect_posix("a.dat", 1, 6, 6000, 9, 9000);
    expect("a.dat", "POSIX_MODE", 0640);
    expect("a.dat", "POSIX_SEEKS", 1);
    expect("a.dat", "POSIX_FSYNCS", 1);
    expect("a.dat", "POSIX_FDSYNCS", 1);
    expect("a.dat", "POSIX_MMAPS", 1);
    expect("a.dat", "POSIX_MAX_BYTE_WRITTEN", 3999);
    expect("a.dat", "POSIX_MAX_BYTE_READ", 3999);
    expect_posix("b.dat", 1, 3, 3000, 0, 0);
    expect("b.dat", "POSIX_MAX_BYTE_WRITTEN", 2999);
    expect("b.dat", "POSIX_SEEKS", 1);
    for (int close_both = 0; close_both < 2; close_both++)
        must(close(ends[close_both]) == 0 && close(more[close_both]) == 0);
}

/* The descriptors of two files go to and fro: bytes are charged to the file that a number stands for. */
static void descriptors(void) {
    struct open_how how = {.flags = O_RDWR | O_CREAT | O_TRUNC, .mode = 0600};
    int a = (int)sys(SYS_openat, AT_FDCWD, "c.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int b = (int)sys(SYS_openat2, AT_FDCWD, "d.dat", &how, sizeof how);
    must(a >= 0);
    if (b < 0) {
        /* A sandbox that does not know it. */
        printf("openat2: %s\n", strerror(errno));
        b = (int)sys(SYS_openat, AT_FDCWD, "d.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    must(sys(SYS_openat2, -1, NULL, NULL, 0L) == -1 && sys(SYS_openat2, AT_FDCWD, "x", &how, 1L) == -1);
    must(sys(SYS_write, b, bytes, 10) == 10);
    must(sys(SYS_dup3, b, a, O_CLOEXEC) == a);
    must(sys(SYS_write, a, bytes, 10) == 10);
    int again = (int)sys(SYS_dup, a);
    int high = (int)sys(SYS_fcntl, a, F_DUPFD_CLOEXEC, 50);
    must(again >= 0 && high >= 50);
    must(sys(SYS_write, again, bytes, 10) == 10 && write(high, bytes, 10) == 10);
    must(sys(SYS_fcntl, a, F_SETFL, O_APPEND) == 0);
    must(sys(SYS_lseek, a, 0L, SEEK_SET) == 0 && write(a, bytes, 10) == 10);
    must(sys(SYS_close_range, (unsigned)high, (unsigned)high, 0) == 0);
    int next = open("e.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(next >= 0 && sys(SYS_fcntl, next, F_DUPFD, high) == high);
    must(write(high, bytes, 7) == 7);
    must(close(high) == 0 && close(next) == 0 && close(again) == 0 && close(a) == 0 && close(b) == 0);
    expect_posix("c.dat", 1, 0, 0, 0, 0);
    expect_posix("d.dat", 4, 5, 50, 0, 0);
    expect("d.dat", "POSIX_DUPS", 3);
    expect("d.dat", "POSIX_SEEKS", 1);
    expect("d.dat", "POSIX_MAX_BYTE_WRITTEN", 49);
    expect_posix("e.dat", 2, 1, 7, 0, 0);
    expect("e.dat", "POSIX_DUPS", 1);
    int memory = (int)sys(SYS_memfd_create, "m", 0);
    must(memory >= 0 && sys(SYS_write, memory, bytes, 10) == 10 && sys(SYS_close, memory) == 0);
    must(sys(SYS_write, 77, bytes, 1) == -1);
    printf("write: %s\n", strerror(errno));
}

static void names(void) {
    char text[100];
    struct stat facts;
    struct statx more;
    int at = AT_FDCWD;
    int fd = open("n.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && close(fd) == 0);
    must(sys(SYS_newfstatat, at, "n.dat", &facts, 0) == 0);
    must(sys(SYS_statx, at, "n.dat", 0, STATX_BASIC_STATS, &more) == 0);
    must((fd = open("n.dat", O_RDONLY)) >= 0 && sys(SYS_fstat, fd, &facts) == 0);
    must(sys(SYS_newfstatat, fd, "", &facts, AT_EMPTY_PATH) == 0 && close(fd) == 0);
    must(sys(SYS_faccessat, at, "n.dat", R_OK) == 0);
    must(sys(SYS_truncate, "n.dat", 100L) == 0);
    must(sys(SYS_fchmodat, at, "n.dat", 0644) == 0);
    must(sys(SYS_utimensat, at, "n.dat", NULL, 0) == 0);
    must(sys(SYS_linkat, at, "n.dat", at, "l.dat", 0) == 0);
    must(sys(SYS_symlinkat, "n.dat", at, "s.dat") == 0);
    must(sys(SYS_readlinkat, at, "s.dat", text, sizeof text) == 5);
    must(sys(SYS_mkdirat, at, "folder", 0755) == 0);
    must(sys(SYS_renameat2, at, "l.dat", at, "r.dat", 0) == 0);
    must(sys(SYS_unlinkat, at, "s.dat", 0) == 0 && sys(SYS_unlinkat, at, "folder", AT_REMOVEDIR) == 0);
    expect_posix("n.dat", 2, 0, 0, 0, 0);
    expect("n.dat", "POSIX_STATS", 4);
    expect("l.dat", "POSIX_RENAME_SOURCES", 1);
    expect("r.dat", "POSIX_RENAME_TARGETS", 1);
    expect_calls("faccessat", 1);
    expect_calls("truncate", 1);
    expect_calls("fchmodat", 1);
    expect_calls("utimensat", 1);
    expect_calls("linkat", 1);
    expect_calls("symlinkat", 1);
    expect_calls("readlinkat", 1);
    expect_calls("mkdirat", 1);
    expect_calls("renameat2", 1);
    expect_calls("unlinkat", 2);
    expect_calls("fallocate", 1);
    expect_calls("readahead", 1);
    expect_calls("sync_file_range", 1);
    expect_calls("msync", 1);
    expect_calls("mmap", 1);
    expect_calls("tee", 1);
    expect_calls("vmsplice", 1);
    expect_calls("getrandom", 1);
    must(sys(SYS_getrandom, text, 100L, 0) == 100);
    expect("<RANDOM>", "RANDOM_CALLS", 1);
    expect("<RANDOM>", "RANDOM_BYTES", 100);
}

#if defined(__x86_64__)
/* The spellings that newer architectures have no more. */
static void old_names(void) {
    struct stat facts;
    char text[100];
    int fd = (int)sys(SYS_creat, "o.dat", 0600);
    must(fd >= 0 && sys(SYS_write, fd, bytes, 20) == 20);
    int other = (int)sys(SYS_open, "p.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(other >= 0 && sys(SYS_dup2, fd, other) == other && sys(SYS_dup2, fd, fd) == fd);
    must(sys(SYS_write, other, bytes, 20) == 20);
    must(sys(SYS_close, fd) == 0 && sys(SYS_close, other) == 0);
    must(sys(SYS_stat, "o.dat", &facts) == 0 && facts.st_size == 40 && sys(SYS_lstat, "o.dat", &facts) == 0);
    must(sys(SYS_access, "o.dat", R_OK) == 0 && sys(SYS_chmod, "o.dat", 0644) == 0);
    must(sys(SYS_utime, "o.dat", NULL) == 0 && sys(SYS_utimes, "o.dat", NULL) == 0);
    must(sys(SYS_link, "o.dat", "q.dat") == 0 && sys(SYS_symlink, "o.dat", "t.dat") == 0);
    must(sys(SYS_readlink, "t.dat", text, sizeof text) == 5 && sys(SYS_rename, "q.dat", "u.dat") == 0);
    must(sys(SYS_unlink, "t.dat") == 0 && sys(SYS_mkdir, "f", 0755) == 0 && sys(SYS_rmdir, "f") == 0);
    expect_posix("o.dat", 3, 2, 40, 0, 0);
    expect("o.dat", "POSIX_DUPS", 2);
    expect("o.dat", "POSIX_STATS", 2);
    expect("o.dat", "POSIX_MODE", 0600);
    expect_posix("p.dat", 1, 0, 0, 0, 0);
    expect("q.dat", "POSIX_RENAME_SOURCES", 1);
    expect("u.dat", "POSIX_RENAME_TARGETS", 1);
    expect_calls("access", 1);
    expect_calls("unlink", 1);
    expect_calls("rmdir", 1);
    expect_calls("symlink", 1);
}
#else
static void old_names(void) {}
#endif

int main(void) {
    moving();
    descriptors();
    names();
    old_names();
    expect_none_inside();
    return 0;
}
