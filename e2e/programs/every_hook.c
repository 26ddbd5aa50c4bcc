/* errno for every function that netra exports: each is called once so that it fails and once so
 * that it succeeds, and result and errno are printed. Under netra the lines must be the same.
 * A table: one ROW a symbol (tests/errno.rs fails for an export without one); ELSEWHERE names the
 * program that tests what cannot be called in a row. */
#define _LARGEFILE64_SOURCE
#include "expect.h"
#include <aio.h>
#include <dirent.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <utime.h>
#include <wchar.h>

#define ROW(symbol, failing, succeeding)                                                           \
    do {                                                                                           \
        errno = 77;                                                                                \
        long failed = (long)(failing);                                                             \
        int failed_errno = errno;                                                                  \
        errno = 77;                                                                                \
        long done = (long)(succeeding);                                                            \
        int done_errno = errno;                                                                    \
        printf("%-24s %ld %d, %ld %d\n", #symbol, failed, failed_errno, done, done_errno);         \
    } while (0)
#define ELSEWHERE(symbol, program) printf("%-24s see %s\n", #symbol, program)

/* Symbols without a declaration, or that a newer libc has: called where they exist. */
#define WEAK(result, name, ...) extern result name(__VA_ARGS__) __attribute__((weak))
WEAK(int, __open_2, const char *, int);
WEAK(int, __open64_2, const char *, int);
WEAK(int, __openat_2, int, const char *, int);
WEAK(int, __openat64_2, int, const char *, int);
WEAK(ssize_t, __read_chk, int, void *, size_t, size_t);
WEAK(ssize_t, __pread_chk, int, void *, size_t, off_t, size_t);
WEAK(ssize_t, __pread64_chk, int, void *, size_t, off_t, size_t);
WEAK(ssize_t, __readlink_chk, const char *, char *, size_t, size_t);
WEAK(ssize_t, __readlinkat_chk, int, const char *, char *, size_t, size_t);
WEAK(int, __xstat, int, const char *, struct stat *);
WEAK(int, __xstat64, int, const char *, struct stat64 *);
WEAK(int, __lxstat, int, const char *, struct stat *);
WEAK(int, __lxstat64, int, const char *, struct stat64 *);
WEAK(int, __fxstat, int, int, struct stat *);
WEAK(int, __fxstat64, int, int, struct stat64 *);
WEAK(int, __fxstatat, int, int, const char *, struct stat *, int);
WEAK(int, __fxstatat64, int, int, const char *, struct stat64 *, int);
WEAK(size_t, __fread_chk, void *, size_t, size_t, size_t, FILE *);
WEAK(size_t, __fread_unlocked_chk, void *, size_t, size_t, size_t, FILE *);
WEAK(char *, __fgets_chk, char *, size_t, int, FILE *);
WEAK(char *, __fgets_unlocked_chk, char *, size_t, int, FILE *);
WEAK(wchar_t *, __fgetws_chk, wchar_t *, size_t, int, FILE *);
WEAK(wchar_t *, __fgetws_unlocked_chk, wchar_t *, size_t, int, FILE *);
WEAK(int, __fprintf_chk, FILE *, int, const char *, ...);
WEAK(int, __printf_chk, int, const char *, ...);
WEAK(int, __vfprintf_chk, FILE *, int, const char *, va_list);
WEAK(int, __vprintf_chk, int, const char *, va_list);
WEAK(int, __dprintf_chk, int, int, const char *, ...);
WEAK(int, __vdprintf_chk, int, int, const char *, va_list);
WEAK(int, __fwprintf_chk, FILE *, int, const wchar_t *, ...);
WEAK(int, __wprintf_chk, int, const wchar_t *, ...);
WEAK(int, __vfwprintf_chk, FILE *, int, const wchar_t *, va_list);
WEAK(int, __vwprintf_chk, int, const wchar_t *, va_list);
WEAK(int, __isoc99_fscanf, FILE *, const char *, ...);
WEAK(int, __isoc99_scanf, const char *, ...);
WEAK(int, __isoc99_vfscanf, FILE *, const char *, va_list);
WEAK(int, __isoc99_vscanf, const char *, va_list);
WEAK(int, __isoc99_fwscanf, FILE *, const wchar_t *, ...);
WEAK(int, __isoc99_wscanf, const wchar_t *, ...);
WEAK(int, __isoc99_vfwscanf, FILE *, const wchar_t *, va_list);
WEAK(int, __isoc99_vwscanf, const wchar_t *, va_list);
WEAK(int, _IO_getc, FILE *);
WEAK(int, _IO_putc, int, FILE *);
WEAK(int, _IO_puts, const char *);
WEAK(int, _IO_feof, FILE *);
WEAK(ssize_t, __getdelim, char **, size_t *, int, FILE *);
WEAK(int, __overflow, FILE *, int);
WEAK(int, __uflow, FILE *);
WEAK(int, __underflow, FILE *);
WEAK(wint_t, __woverflow, FILE *, wint_t);
WEAK(wint_t, __wuflow, FILE *);
WEAK(wint_t, __wunderflow, FILE *);
WEAK(pid_t, __libc_fork, void);
WEAK(char *, gets, char *);
WEAK(char *, __gets_chk, char *, size_t);
WEAK(int, fcntl64, int, int, ...);
WEAK(int, dprintf, int, const char *, ...);

static int fd, other, pipe_ends[2];
static FILE *stream, *closed_for_reading, *closed_for_writing, *full;
static char bytes[65536], text[256];
static wchar_t wide[64];
static struct iovec parts[2] = {{bytes, 10}, {bytes + 10, 20}}, bad_part = {(void *)1, 8};

/* An open that is not kept; 0 for success. */
static int shut(int opened) {
    int kept = errno;
    if (opened < 0)
        return opened;
    close(opened);
    errno = kept;
    return 0;
}

static int shut_stream(FILE *opened) {
    int kept = errno;
    if (!opened)
        return -1;
    fclose(opened);
    errno = kept;
    return 0;
}

static int is(const void *pointer) { return pointer != NULL; }

static off_t zero(void) { return lseek(fd, 0, SEEK_SET); }
static FILE *at_start(void) { rewind(stream); return stream; }

/* For the forms that take a va_list. */
#define THROUGH_V(name, first, format_type, call)                                                  \
    static int name(first, format_type format, ...) {                                              \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        int result = call;                                                                         \
        va_end(list);                                                                              \
        return result;                                                                             \
    }
THROUGH_V(v_fprintf, FILE *to, const char *, vfprintf(to, format, list))
THROUGH_V(v_fprintf_chk, FILE *to, const char *, __vfprintf_chk(to, 1, format, list))
THROUGH_V(v_printf, int flag, const char *, flag ? vprintf(format, list) : 0)
THROUGH_V(v_printf_chk, int flag, const char *, __vprintf_chk(flag, format, list))
THROUGH_V(v_dprintf, int to, const char *, vdprintf(to, format, list))
THROUGH_V(v_dprintf_chk, int to, const char *, __vdprintf_chk(to, 1, format, list))
THROUGH_V(v_fscanf, FILE *from, const char *, vfscanf(from, format, list))
THROUGH_V(v_fscanf99, FILE *from, const char *, __isoc99_vfscanf(from, format, list))
THROUGH_V(v_scanf, int flag, const char *, flag ? vscanf(format, list) : 0)
THROUGH_V(v_scanf99, int flag, const char *, flag ? __isoc99_vscanf(format, list) : 0)
THROUGH_V(v_fwprintf, FILE *to, const wchar_t *, vfwprintf(to, format, list))
THROUGH_V(v_fwprintf_chk, FILE *to, const wchar_t *, __vfwprintf_chk(to, 1, format, list))
THROUGH_V(v_fwscanf, FILE *from, const wchar_t *, vfwscanf(from, format, list))
THROUGH_V(v_fwscanf99, FILE *from, const wchar_t *, __isoc99_vfwscanf(from, format, list))

static void opening(void) {
    ROW(open, open("gone", O_RDONLY), shut(open("data.dat", O_RDONLY)));
    ROW(open64, open64("gone", O_RDONLY), shut(open64("data.dat", O_RDONLY)));
    ROW(openat, openat(99, "gone", O_RDONLY), shut(openat(AT_FDCWD, "data.dat", O_RDONLY)));
    ROW(openat64, openat64(99, "gone", 0), shut(openat64(AT_FDCWD, "data.dat", O_RDONLY)));
    ROW(creat, creat("gone/x", 0644), shut(creat("made", 0644)));
    ROW(creat64, creat64("gone/x", 0644), shut(creat64("made", 0644)));
    ROW(__open_2, __open_2("gone", 0), shut(__open_2("data.dat", 0)));
    ROW(__open64_2, __open64_2("gone", 0), shut(__open64_2("data.dat", 0)));
    ROW(__openat_2, __openat_2(AT_FDCWD, "gone", 0), shut(__openat_2(AT_FDCWD, "data.dat", 0)));
    ROW(__openat64_2, __openat64_2(AT_FDCWD, "gone", 0), shut(__openat64_2(AT_FDCWD, "data.dat", 0)));
    struct file_handle handle = {.handle_bytes = 0};
    ROW(open_by_handle_at, open_by_handle_at(99, &handle, O_RDONLY), 0);
    ROW(memfd_create, memfd_create(NULL, 0), shut(memfd_create("m", 0)));
    char a[] = "a-XXXXXX", b[] = "b-XXXXXX", c[] = "c-XXXXXX.x", d[] = "d-XXXXXX.x", e[] = "e-XXXXXX",
         f[] = "f-XXXXXX", g[] = "g-XXXXXX.x", h[] = "h-XXXXXX.x", none[] = "none";
    ROW(mkstemp, mkstemp(none), shut(mkstemp(a)) | unlink(a));
    ROW(mkostemp, mkostemp(none, 0), shut(mkostemp(b, 0)) | unlink(b));
    ROW(mkstemps, mkstemps(none, 1), shut(mkstemps(c, 2)) | unlink(c));
    ROW(mkostemps, mkostemps(none, 1, 0), shut(mkostemps(d, 2, 0)) | unlink(d));
    ROW(mkstemp64, mkstemp64(none), shut(mkstemp64(e)) | unlink(e));
    ROW(mkostemp64, mkostemp64(none, 0), shut(mkostemp64(f, 0)) | unlink(f));
    ROW(mkstemps64, mkstemps64(none, 1), shut(mkstemps64(g, 2)) | unlink(g));
    ROW(mkostemps64, mkostemps64(none, 1, 0), shut(mkostemps64(h, 2, 0)) | unlink(h));
    ROW(tmpfile, 0, shut_stream(tmpfile()));
    ROW(tmpfile64, 0, shut_stream(tmpfile64()));
    ROW(close, close(99), close(dup(fd)));
    ROW(close_range, close_range(5, 4, 0), close_range(500, 600, 0));
    ROW(closefrom, 0, (closefrom(500), 0));
    ROW(dup, dup(99), shut(dup(fd)));
    ROW(dup2, dup2(99, 98), shut(dup2(fd, 98)));
    ROW(dup3, dup3(99, 98, 0), shut(dup3(fd, 98, O_CLOEXEC)));
    ROW(fcntl, fcntl(99, F_GETFL), shut(fcntl(fd, F_DUPFD, 50)));
    ROW(fcntl64, fcntl64(99, F_GETFL), shut(fcntl64(fd, F_DUPFD_CLOEXEC, 50)));
    ROW(ioctl, ioctl(99, FIONREAD, &other), ioctl(fd, FIOCLEX));
    ROW(pipe, pipe((int *)1), 0);
    ROW(pipe2, pipe2((int *)1, 0), 0);
}

static void data(void) {
    ROW(read, read(99, bytes, 1), read(fd, bytes, 10));
    ROW(__read_chk, __read_chk(99, bytes, 1, 10), __read_chk(fd, bytes, 10, 20));
    ROW(pread, pread(fd, bytes, 1, -1), pread(fd, bytes, 10, 0));
    ROW(pread64, pread64(fd, bytes, 1, -1), pread64(fd, bytes, 10, 0));
    ROW(__pread_chk, __pread_chk(fd, bytes, 1, -1, 10), __pread_chk(fd, bytes, 10, 0, 20));
    ROW(__pread64_chk, __pread64_chk(fd, bytes, 1, -1, 10), __pread64_chk(fd, bytes, 10, 0, 20));
    ROW(readv, readv(fd, &bad_part, -1), readv(fd, parts, 2));
    ROW(preadv, preadv(fd, &bad_part, 1, 0), preadv(fd, parts, 2, 0));
    ROW(preadv64, preadv64(fd, &bad_part, 1, 0), preadv64(fd, parts, 2, 0));
    ROW(preadv2, preadv2(fd, parts, 2, 0, 0x4000), preadv2(fd, parts, 2, 0, 0));
    ROW(preadv64v2, preadv64v2(fd, parts, 2, 0, 0x4000), preadv64v2(fd, parts, 2, 0, 0));
    ROW(write, write(99, bytes, 1), write(fd, bytes, 10));
    ROW(pwrite, pwrite(fd, bytes, 1, -1), pwrite(fd, bytes, 10, 0));
    ROW(pwrite64, pwrite64(fd, bytes, 1, -1), pwrite64(fd, bytes, 10, 0));
    ROW(writev, writev(fd, &bad_part, 1), writev(fd, parts, 2));
    ROW(pwritev, pwritev(fd, &bad_part, 1, 0), pwritev(fd, parts, 2, 0));
    ROW(pwritev64, pwritev64(fd, &bad_part, 1, 0), pwritev64(fd, parts, 2, 0));
    ROW(pwritev2, pwritev2(fd, parts, 2, 0, 0x4000), pwritev2(fd, parts, 2, 0, 0));
    ROW(pwritev64v2, pwritev64v2(fd, parts, 2, 0, 0x4000), pwritev64v2(fd, parts, 2, 0, 0));
    ROW(lseek, lseek(fd, -1, SEEK_SET), lseek(fd, 5, SEEK_SET));
    ROW(lseek64, lseek64(fd, -1, SEEK_SET), lseek64(fd, 5, SEEK_SET));
    ROW(fsync, fsync(99), fsync(fd));
    ROW(fdatasync, fdatasync(99), fdatasync(fd));
    ROW(sync, 0, 0);
    ROW(syncfs, syncfs(99), 0);
    ROW(sync_file_range, sync_file_range(99, 0, 1, 0), sync_file_range(fd, 0, 1, 0));
    ROW(sendfile, sendfile(99, fd, NULL, 1), (zero(), sendfile(other, fd, NULL, 10)));
    ROW(sendfile64, sendfile64(99, fd, NULL, 1), (zero(), sendfile64(other, fd, NULL, 10)));
    ROW(copy_file_range, copy_file_range(99, NULL, fd, NULL, 1, 0),
        (zero(), copy_file_range(fd, NULL, other, NULL, 10, 0)));
    ROW(splice, splice(fd, NULL, other, NULL, 1, 0), (zero(), splice(fd, NULL, pipe_ends[1], NULL, 10, 0)));
    ROW(tee, tee(fd, other, 1, 0), tee(pipe_ends[0], pipe_ends[1], 0, 0));
    ROW(vmsplice, vmsplice(fd, parts, 2, 0), vmsplice(pipe_ends[1], parts, 2, 0));
    ROW(truncate, truncate("gone", 1), truncate("data.dat", 70000));
    ROW(truncate64, truncate64("gone", 1), truncate64("data.dat", 70000));
    ROW(ftruncate, ftruncate(99, 1), ftruncate(fd, 70000));
    ROW(ftruncate64, ftruncate64(99, 1), ftruncate64(fd, 70000));
    ROW(fallocate, fallocate(99, 0, 0, 1), fallocate(fd, 0, 0, 4096));
    ROW(fallocate64, fallocate64(99, 0, 0, 1), fallocate64(fd, 0, 0, 4096));
    ROW(posix_fallocate, posix_fallocate(99, 0, 1), posix_fallocate(fd, 0, 4096));
    ROW(posix_fallocate64, posix_fallocate64(99, 0, 1), posix_fallocate64(fd, 0, 4096));
    ROW(posix_fadvise, posix_fadvise(99, 0, 0, 0), posix_fadvise(fd, 0, 0, 0));
    ROW(posix_fadvise64, posix_fadvise64(99, 0, 0, 0), posix_fadvise64(fd, 0, 0, 0));
    ROW(readahead, readahead(99, 0, 1), readahead(fd, 0, 4096));
    ROW(mmap, mmap(0, 4096, PROT_READ, MAP_SHARED, 99, 0) == MAP_FAILED, mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    ROW(mmap64, mmap64(0, 4096, PROT_READ, MAP_SHARED, 99, 0) == MAP_FAILED, mmap64(0, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ROW(msync, msync((void *)1, 1, MS_SYNC), msync(page, 4096, MS_ASYNC));
    ROW(mremap, mremap((void *)1, 1, 1, 0) == MAP_FAILED, mremap(page, 8192, 4096, 0) == page);
    ROW(munmap, munmap((void *)1, 1), munmap(page, 4096));
    /* Static: the last request is still on its way when this function has returned. */
    static struct aiocb request;
    request = (struct aiocb){.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 10, .aio_reqprio = -1};
    struct aiocb *list[1] = {&request};
    const struct aiocb *waited[1] = {&request};
    ROW(aio_read, aio_read(&request), (request.aio_reqprio = 0, aio_read(&request)));
    ROW(aio_suspend, aio_suspend(waited, -1, NULL), aio_suspend(waited, 1, NULL));
    ROW(aio_error, 0, aio_error(&request));
    ROW(aio_return, 0, aio_return(&request));
    request.aio_lio_opcode = LIO_WRITE;
    ROW(lio_listio, lio_listio(9, list, 1, NULL), lio_listio(LIO_WAIT, list, 1, NULL));
    ROW(aio_write, (request.aio_reqprio = -1, aio_write(&request)), (request.aio_reqprio = 0, aio_write(&request)));
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(waited, 1, NULL);
    ROW(aio_fsync, aio_fsync(9, &request), aio_fsync(O_SYNC, &request));
    ROW(aio_cancel, aio_cancel(99, NULL), aio_cancel(fd, NULL) >= 0);
    ELSEWHERE(aio_read64, "aio.c");
    ELSEWHERE(aio_write64, "aio.c");
    ELSEWHERE(aio_return64, "aio.c");
    ELSEWHERE(aio_error64, "aio.c");
    ELSEWHERE(aio_suspend64, "aio.c");
    ELSEWHERE(aio_fsync64, "aio.c");
    ELSEWHERE(aio_cancel64, "aio.c");
    ELSEWHERE(lio_listio64, "aio.c");
    ROW(syscall, syscall(SYS_read, 99, bytes, 1), syscall(SYS_write, fd, bytes, 10));
    ROW(getentropy, getentropy(text, 1000), getentropy(text, 16));
    ROW(getrandom, getrandom(text, 1, 0x1000), getrandom(text, 16, 0));
}

static void naming(void) {
    struct stat facts;
    struct stat64 facts64;
    struct statx wide_facts;
    ROW(stat, stat("gone", &facts), stat("data.dat", &facts));
    ROW(stat64, stat64("gone", &facts64), stat64("data.dat", &facts64));
    ROW(lstat, lstat("gone", &facts), lstat("data.dat", &facts));
    ROW(lstat64, lstat64("gone", &facts64), lstat64("data.dat", &facts64));
    ROW(fstat, fstat(99, &facts), fstat(fd, &facts));
    ROW(fstat64, fstat64(99, &facts64), fstat64(fd, &facts64));
    ROW(fstatat, fstatat(99, "gone", &facts, 0), fstatat(AT_FDCWD, "data.dat", &facts, 0));
    ROW(fstatat64, fstatat64(99, "gone", &facts64, 0), fstatat64(AT_FDCWD, "data.dat", &facts64, 0));
    ROW(statx, statx(99, "gone", 0, STATX_SIZE, &wide_facts), statx(AT_FDCWD, "data.dat", 0, STATX_SIZE, &wide_facts));
    ROW(__xstat, __xstat(1, "gone", &facts), __xstat(1, "data.dat", &facts));
    ROW(__xstat64, __xstat64(1, "gone", &facts64), __xstat64(1, "data.dat", &facts64));
    ROW(__lxstat, __lxstat(1, "gone", &facts), __lxstat(1, "data.dat", &facts));
    ROW(__lxstat64, __lxstat64(1, "gone", &facts64), __lxstat64(1, "data.dat", &facts64));
    ROW(__fxstat, __fxstat(1, 99, &facts), __fxstat(1, fd, &facts));
    ROW(__fxstat64, __fxstat64(1, 99, &facts64), __fxstat64(1, fd, &facts64));
    ROW(__fxstatat, __fxstatat(1, AT_FDCWD, "gone", &facts, 0), __fxstatat(1, AT_FDCWD, "data.dat", &facts, 0));
    ROW(__fxstatat64, __fxstatat64(1, AT_FDCWD, "gone", &facts64, 0), __fxstatat64(1, AT_FDCWD, "data.dat", &facts64, 0));
    ROW(access, access("gone", R_OK), access("data.dat", R_OK));
    ROW(faccessat, faccessat(99, "gone", R_OK, 0), faccessat(AT_FDCWD, "data.dat", R_OK, 0));
    ROW(euidaccess, euidaccess("gone", R_OK), euidaccess("data.dat", R_OK));
    ROW(eaccess, eaccess("gone", R_OK), eaccess("data.dat", R_OK));
    ROW(chmod, chmod("gone", 0644), chmod("data.dat", 0644));
    ROW(fchmod, fchmod(99, 0644), fchmod(fd, 0644));
    ROW(fchmodat, fchmodat(AT_FDCWD, "gone", 0644, 0), fchmodat(AT_FDCWD, "data.dat", 0644, 0));
    ROW(lchmod, lchmod("gone", 0644), 0);
    ROW(chown, chown("gone", -1, -1), chown("data.dat", -1, -1));
    ROW(fchown, fchown(99, -1, -1), fchown(fd, -1, -1));
    ROW(lchown, lchown("gone", -1, -1), lchown("data.dat", -1, -1));
    ROW(fchownat, fchownat(AT_FDCWD, "gone", -1, -1, 0), fchownat(AT_FDCWD, "data.dat", -1, -1, 0));
    ROW(link, link("gone", "linked"), link("data.dat", "linked"));
    ROW(linkat, linkat(AT_FDCWD, "gone", AT_FDCWD, "x", 0), linkat(AT_FDCWD, "data.dat", AT_FDCWD, "linked2", 0));
    ROW(symlink, symlink("x", "gone/x"), symlink("data.dat", "soft"));
    ROW(symlinkat, symlinkat("x", 99, "x"), symlinkat("data.dat", AT_FDCWD, "soft2"));
    ROW(readlink, readlink("gone", text, 10), readlink("soft", text, 10));
    ROW(readlinkat, readlinkat(AT_FDCWD, "gone", text, 10), readlinkat(AT_FDCWD, "soft", text, 10));
    ROW(__readlink_chk, __readlink_chk("gone", text, 10, 20), __readlink_chk("soft", text, 10, 20));
    ROW(__readlinkat_chk, __readlinkat_chk(AT_FDCWD, "gone", text, 10, 20), __readlinkat_chk(AT_FDCWD, "soft", text, 10, 20));
    ROW(rename, rename("gone", "x"), rename("linked", "renamed"));
    ROW(renameat, renameat(AT_FDCWD, "gone", AT_FDCWD, "x"), renameat(AT_FDCWD, "renamed", AT_FDCWD, "renamed2"));
    ROW(renameat2, renameat2(AT_FDCWD, "gone", AT_FDCWD, "x", 0), renameat2(AT_FDCWD, "renamed2", AT_FDCWD, "renamed3", 0));
    ROW(unlink, unlink("gone"), unlink("renamed3"));
    ROW(unlinkat, unlinkat(99, "gone", 0), unlinkat(AT_FDCWD, "linked2", 0));
    ROW(remove, remove("gone"), remove("soft2"));
    ROW(mkdir, mkdir("gone/x", 0755), mkdir("folder", 0755));
    ROW(mkdirat, mkdirat(99, "x", 0755), mkdirat(AT_FDCWD, "folder2", 0755));
    char gone[] = "gone/d-XXXXXX", made[] = "d-XXXXXX";
    ROW(mkdtemp, is(mkdtemp(gone)), is(mkdtemp(made)) + rmdir(made));
    ROW(rmdir, rmdir("gone"), rmdir("folder"));
    ROW(mknod, mknod("gone/x", S_IFIFO | 0644, 0), mknod("node", S_IFIFO | 0644, 0));
    ROW(mknodat, mknodat(99, "x", S_IFIFO | 0644, 0), mknodat(AT_FDCWD, "node2", S_IFIFO | 0644, 0));
    ROW(mkfifo, mkfifo("gone/x", 0644), mkfifo("fifo", 0644));
    ROW(mkfifoat, mkfifoat(99, "x", 0644), mkfifoat(AT_FDCWD, "fifo2", 0644));
    DIR *folder;
    ROW(opendir, is(opendir("gone")), is(folder = opendir("folder2")));
    ROW(readdir, 0, is(readdir(folder)));
    ROW(readdir64, 0, is(readdir64(folder)));
    ROW(rewinddir, 0, (rewinddir(folder), 0));
    ROW(seekdir, 0, (seekdir(folder, 0), 0));
    ROW(telldir, 0, telldir(folder) >= 0);
    ROW(dirfd, 0, dirfd(folder) > 0);
    ROW(closedir, closedir(NULL), closedir(folder));
    ROW(fdopendir, is(fdopendir(99)), closedir(fdopendir(open("folder2", O_RDONLY))));
    struct dirent **names;
    struct dirent64 **names64;
    ROW(scandir, scandir("gone", &names, NULL, alphasort), scandir("folder2", &names, NULL, alphasort));
    ROW(scandir64, scandir64("gone", &names64, NULL, alphasort64), scandir64("folder2", &names64, NULL, alphasort64));
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
    ROW(utimensat, utimensat(AT_FDCWD, "gone", times, 0), utimensat(AT_FDCWD, "data.dat", times, 0));
    ROW(futimens, futimens(99, times), futimens(fd, times));
    struct timeval moments[2] = {{0, 0}, {0, 0}};
    struct utimbuf moment = {0, 0};
    ROW(utime, utime("gone", &moment), utime("data.dat", &moment));
    ROW(utimes, utimes("gone", moments), utimes("data.dat", moments));
    ROW(lutimes, lutimes("gone", moments), lutimes("data.dat", moments));
    ROW(futimes, futimes(99, moments), futimes(fd, moments));
    ROW(flock, flock(99, LOCK_SH), flock(fd, LOCK_SH));
    ROW(lockf, lockf(99, F_TEST, 1), lockf(fd, F_TEST, 1));
    ROW(lockf64, lockf64(99, F_TEST, 1), lockf64(fd, F_TEST, 1));
    ROW(shm_open, shm_open("a/b", O_RDWR, 0600), shut(shm_open("/netra-e2e", O_RDWR | O_CREAT, 0600)) + shm_unlink("/netra-e2e"));
    struct statfs64 system64;
    struct statvfs view;
    struct statvfs64 view64;
    ROW(statfs64, statfs64("gone", &system64), statfs64("data.dat", &system64));
    ROW(fstatfs64, fstatfs64(99, &system64), fstatfs64(fd, &system64));
    ROW(statvfs, statvfs("gone", &view), statvfs("data.dat", &view));
    ROW(statvfs64, statvfs64("gone", &view64), statvfs64("data.dat", &view64));
    ROW(fstatvfs, fstatvfs(99, &view), fstatvfs(fd, &view));
    ROW(fstatvfs64, fstatvfs64(99, &view64), fstatvfs64(fd, &view64));
    struct statfs system;
    ROW(statfs, statfs("gone", &system), statfs("data.dat", &system));
    ROW(fstatfs, fstatfs(99, &system), fstatfs(fd, &system));
}

static void streams(void) {
    ROW(fopen, is(fopen("gone/x", "r")), shut_stream(fopen("data.dat", "r")));
    ROW(fopen64, is(fopen64("gone/x", "r")), shut_stream(fopen64("data.dat", "r")));
    ROW(fdopen, is(fdopen(99, "r")), shut_stream(fdopen(dup(fd), "r")));
    FILE *moved = fopen("data.dat", "r");
    ROW(freopen, is(freopen("gone/x", "r", fopen("data.dat", "r"))), is(freopen("data.dat", "r", moved)));
    ROW(freopen64, is(freopen64("gone/x", "r", fopen("data.dat", "r"))), is(freopen64("data.dat", "r", moved)));
    ROW(fclose, 0, fclose(moved));
    ELSEWHERE(fcloseall, "fcloseall.c");
    FILE *shell;
    ROW(popen, is(popen("true", "x")), is(shell = popen("exit 3", "r")));
    ROW(pclose, 0, pclose(shell));
    ROW(fileno, 0, fileno(stream) > 0);
    ROW(fileno_unlocked, 0, fileno_unlocked(stream) > 0);
    ROW(fwrite, fwrite(bytes, 1, 10, closed_for_writing), fwrite(bytes, 1, 10, stream));
    ROW(fwrite_unlocked, fwrite_unlocked(bytes, 1, 10, closed_for_writing), fwrite_unlocked(bytes, 1, 10, stream));
    ROW(fputc, fputc('x', closed_for_writing), fputc('x', stream));
    ROW(fputc_unlocked, fputc_unlocked('x', closed_for_writing), fputc_unlocked('x', stream));
    ROW(putc, (putc)('x', closed_for_writing), (putc)('x', stream));
    ROW(putc_unlocked, (putc_unlocked)('x', closed_for_writing), (putc_unlocked)('x', stream));
    ROW(_IO_putc, _IO_putc('x', closed_for_writing), _IO_putc('x', stream));
    ROW(fputs, fputs("x", closed_for_writing), fputs("x\n", stream) >= 0);
    ROW(fputs_unlocked, fputs_unlocked("x", closed_for_writing), fputs_unlocked("x\n", stream) >= 0);
    ROW(putw, putw(1, closed_for_writing), putw(1, stream));
    ROW(puts, 0, puts("puts") >= 0);
    ROW(_IO_puts, 0, _IO_puts("puts") >= 0);
    ROW(putchar, 0, (putchar)('\n'));
    ROW(putchar_unlocked, 0, (putchar_unlocked)('\n'));
    ROW(gets, is(gets(text)), 0);
    ROW(__gets_chk, is(__gets_chk(text, 10)), 0);
    ROW(perror, 0, (perror("perror"), 0));
    ROW(fprintf, fprintf(closed_for_writing, "%d", 1), fprintf(stream, "%d\n", 1));
    ROW(__fprintf_chk, __fprintf_chk(closed_for_writing, 1, "%d", 1), __fprintf_chk(stream, 1, "%d\n", 1));
    ROW(printf, 0, printf("%s\n", "printf"));
    ROW(__printf_chk, 0, __printf_chk(1, "%s\n", "printf"));
    ROW(vfprintf, v_fprintf(closed_for_writing, "%d", 1), v_fprintf(stream, "%d\n", 1));
    ROW(__vfprintf_chk, v_fprintf_chk(closed_for_writing, "%d", 1), v_fprintf_chk(stream, "%d\n", 1));
    ROW(vprintf, 0, v_printf(1, "%d\n", 1));
    ROW(__vprintf_chk, 0, v_printf_chk(1, "%d\n", 1));
    ROW(dprintf, dprintf(99, "%d", 1), dprintf(fd, "%d", 1));
    ROW(vdprintf, v_dprintf(99, "%d", 1), v_dprintf(fd, "%d", 1));
    ROW(__dprintf_chk, __dprintf_chk(99, 1, "%d", 1), __dprintf_chk(fd, 1, "%d", 1));
    ROW(__vdprintf_chk, v_dprintf_chk(99, "%d", 1), v_dprintf_chk(fd, "%d", 1));
    ROW(fflush, fflush(full), fflush(stream));
    ROW(fflush_unlocked, fflush_unlocked(full), fflush_unlocked(stream));
    ROW(fread, fread(text, 1, 10, closed_for_reading), fread(text, 1, 10, at_start()));
    ROW(fread_unlocked, fread_unlocked(text, 1, 10, closed_for_reading), fread_unlocked(text, 1, 10, at_start()));
    ROW(__fread_chk, __fread_chk(text, 20, 1, 10, closed_for_reading), __fread_chk(text, 20, 1, 10, at_start()));
    ROW(__fread_unlocked_chk, __fread_unlocked_chk(text, 20, 1, 10, closed_for_reading), __fread_unlocked_chk(text, 20, 1, 10, at_start()));
    ROW(fgetc, fgetc(closed_for_reading), fgetc(at_start()));
    ROW(fgetc_unlocked, fgetc_unlocked(closed_for_reading), fgetc_unlocked(at_start()));
    ROW(getc, (getc)(closed_for_reading), (getc)(at_start()));
    ROW(getc_unlocked, (getc_unlocked)(closed_for_reading), (getc_unlocked)(at_start()));
    ROW(_IO_getc, _IO_getc(closed_for_reading), _IO_getc(at_start()));
    ROW(getchar, getchar(), 0);
    ROW(getchar_unlocked, (getchar_unlocked)(), 0);
    ROW(fgets, is(fgets(text, 10, closed_for_reading)), is(fgets(text, 10, at_start())));
    ROW(fgets_unlocked, is(fgets_unlocked(text, 10, closed_for_reading)), is(fgets_unlocked(text, 10, at_start())));
    ROW(__fgets_chk, is(__fgets_chk(text, 20, 10, closed_for_reading)), is(__fgets_chk(text, 20, 10, at_start())));
    ROW(__fgets_unlocked_chk, is(__fgets_unlocked_chk(text, 20, 10, closed_for_reading)), is(__fgets_unlocked_chk(text, 20, 10, at_start())));
    char *line = NULL;
    size_t room = 0;
    ROW(getline, getline(&line, &room, closed_for_reading), getline(&line, &room, at_start()) > 0);
    ROW(getdelim, getdelim(NULL, &room, 'x', stream), getdelim(&line, &room, 'x', at_start()) > 0);
    ROW(__getdelim, __getdelim(NULL, &room, 'x', stream), __getdelim(&line, &room, 'x', at_start()) > 0);
    ROW(getw, getw(closed_for_reading), getw(at_start()));
    ROW(ungetc, ungetc(EOF, stream), ungetc('x', at_start()));
    int number = 0;
    FILE *digits = fopen("digits", "w+");
    fputs("1 2 3 4 5 6 7 8 9", digits);
    rewind(digits);
    ROW(fscanf, fscanf(closed_for_reading, "%d", &number), fscanf(digits, "%d", &number));
    ROW(__isoc99_fscanf, __isoc99_fscanf(closed_for_reading, "%d", &number), __isoc99_fscanf(digits, "%d", &number));
    ELSEWHERE(__isoc23_fscanf, "scanf_family.c");
    ROW(vfscanf, v_fscanf(closed_for_reading, "%d", &number), v_fscanf(digits, "%d", &number));
    ROW(__isoc99_vfscanf, v_fscanf99(closed_for_reading, "%d", &number), v_fscanf99(digits, "%d", &number));
    ELSEWHERE(__isoc23_vfscanf, "scanf_family.c");
    ROW(scanf, scanf("%d", &number), 0);
    ROW(__isoc99_scanf, __isoc99_scanf("%d", &number), 0);
    ELSEWHERE(__isoc23_scanf, "scanf_family.c");
    ROW(vscanf, v_scanf(1, "%d", &number), 0);
    ROW(__isoc99_vscanf, v_scanf99(1, "%d", &number), 0);
    ELSEWHERE(__isoc23_vscanf, "scanf_family.c");
    ROW(fseek, fseek(stream, -1, SEEK_SET), fseek(stream, 0, SEEK_SET));
    ROW(fseeko, fseeko(stream, -1, SEEK_SET), fseeko(stream, 0, SEEK_SET));
    ROW(fseeko64, fseeko64(stream, -1, SEEK_SET), fseeko64(stream, 0, SEEK_SET));
    ROW(ftell, 0, ftell(stream));
    ROW(ftello, 0, ftello(stream));
    ROW(ftello64, 0, ftello64(stream));
    fpos_t place;
    fpos64_t place64;
    ROW(fgetpos, 0, fgetpos(stream, &place));
    ROW(fgetpos64, 0, fgetpos64(stream, &place64));
    ROW(fsetpos, 0, fsetpos(stream, &place));
    ROW(fsetpos64, 0, fsetpos64(stream, &place64));
    ROW(rewind, 0, (rewind(stream), 0));
    ROW(setvbuf, setvbuf(stream, NULL, 99, 0), setvbuf(digits, NULL, _IONBF, 0));
    ROW(setbuf, 0, (setbuf(digits, NULL), 0));
    ROW(setbuffer, 0, (setbuffer(digits, NULL, 0), 0));
    ROW(setlinebuf, 0, (setlinebuf(digits), 0));
    ROW(__overflow, __overflow(closed_for_writing, 'x'), __overflow(stream, 'x'));
    ROW(__uflow, __uflow(closed_for_reading), (rewind(digits), __uflow(digits)));
    ROW(__underflow, __underflow(closed_for_reading), __underflow(digits));
    ROW(feof, 0, feof(stream));
    ROW(ferror, 0, ferror(stream));
    ROW(clearerr, 0, (clearerr(stream), 0));
}

static void wide_streams(void) {
    FILE *broad = fopen("wide.txt", "w+"), *reader = fopen("/dev/null", "w"), *writer = fopen("/dev/null", "r");
    wchar_t number[8];
    int value;
    ROW(fputwc, fputwc(L'x', writer), fputwc(L'x', broad));
    ROW(fputwc_unlocked, fputwc_unlocked(L'x', writer), fputwc_unlocked(L'x', broad));
    ROW(putwc, (putwc)(L'x', writer), (putwc)(L'x', broad));
    ROW(putwc_unlocked, (putwc_unlocked)(L'x', writer), (putwc_unlocked)(L'x', broad));
    ROW(fputws, fputws(L"x", writer), fputws(L"xyz\n", broad) >= 0);
    ROW(fputws_unlocked, fputws_unlocked(L"x", writer), fputws_unlocked(L"xyz\n", broad) >= 0);
    ROW(fwprintf, fwprintf(writer, L"%d", 1), fwprintf(broad, L"%d ", 1));
    ROW(__fwprintf_chk, __fwprintf_chk(writer, 1, L"%d", 1), __fwprintf_chk(broad, 1, L"%d ", 1));
    ROW(vfwprintf, v_fwprintf(writer, L"%d", 1), v_fwprintf(broad, L"%d ", 1));
    ROW(__vfwprintf_chk, v_fwprintf_chk(writer, L"%d", 1), v_fwprintf_chk(broad, L"%d %d %d %d ", 1, 2, 3, 4));
    rewind(broad);
    ROW(fgetwc, fgetwc(reader), fgetwc(broad));
    ROW(fgetwc_unlocked, fgetwc_unlocked(reader), fgetwc_unlocked(broad));
    ROW(getwc, (getwc)(reader), (getwc)(broad));
    ROW(getwc_unlocked, (getwc_unlocked)(reader), (getwc_unlocked)(broad));
    ROW(ungetwc, ungetwc(WEOF, broad), ungetwc(L'x', broad));
    ROW(fgetws, is(fgetws(wide, 10, reader)), is(fgetws(wide, 10, broad)));
    ROW(fgetws_unlocked, is(fgetws_unlocked(wide, 10, reader)), is(fgetws_unlocked(wide, 10, broad)));
    rewind(broad);
    ROW(__fgetws_chk, is(__fgetws_chk(wide, 20, 10, reader)), is(__fgetws_chk(wide, 20, 10, broad)));
    ROW(__fgetws_unlocked_chk, is(__fgetws_unlocked_chk(wide, 20, 10, reader)), is(__fgetws_unlocked_chk(wide, 20, 10, broad)));
    ROW(fwscanf, fwscanf(reader, L"%d", &value), fwscanf(broad, L"%d", &value));
    ROW(vfwscanf, v_fwscanf(reader, L"%d", &value), v_fwscanf(broad, L"%d", &value));
    ROW(__isoc99_fwscanf, __isoc99_fwscanf(reader, L"%d", &value), __isoc99_fwscanf(broad, L"%d", &value));
    ROW(__isoc99_vfwscanf, v_fwscanf99(reader, L"%d", &value), v_fwscanf99(broad, L"%d", &value));
    ELSEWHERE(__isoc23_fwscanf, "scanf_family.c");
    ELSEWHERE(__isoc23_vfwscanf, "scanf_family.c");
    ROW(__woverflow, 0, __woverflow(broad, L'x'));
    ROW(__wuflow, __wuflow(reader), 0);
    ROW(__wunderflow, __wunderflow(reader), 0);
    ROW(fwide, 0, fwide(broad, 0) > 0);
    /* These belong to stdin and stdout, which are narrow here, and fail. */
    ROW(putwchar, (putwchar)(L'\n'), 0);
    ROW(putwchar_unlocked, (putwchar_unlocked)(L'\n'), 0);
    ROW(getwchar, (getwchar)(), 0);
    ROW(getwchar_unlocked, (getwchar_unlocked)(), 0);
    ROW(wprintf, wprintf(L"%d", 1), 0);
    ROW(__wprintf_chk, __wprintf_chk(1, L"%d", 1), 0);
    ELSEWHERE(vwprintf, "wide_stdio.c");
    ELSEWHERE(__vwprintf_chk, "wide_stdio.c");
    ROW(wscanf, wscanf(L"%d", &value), 0);
    ROW(__isoc99_wscanf, __isoc99_wscanf(L"%d", &value), 0);
    ELSEWHERE(__isoc23_wscanf, "scanf_family.c");
    ELSEWHERE(vwscanf, "wide_stdio.c");
    ELSEWHERE(__isoc99_vwscanf, "wide_stdio.c");
    ELSEWHERE(__isoc23_vwscanf, "wide_stdio.c");
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    fd = open("data.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    other = open("other.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && other >= 0 && pipe(pipe_ends) == 0 && write(fd, bytes, sizeof bytes) > 0 && zero() == 0);
    stream = fopen("stream.txt", "w+");
    closed_for_writing = fopen("/dev/null", "r");
    closed_for_reading = fopen("/dev/null", "w");
    full = fopen("/dev/full", "w");
    must(stream && closed_for_reading && closed_for_writing && full && fputs("x", full) >= 0);
    opening();
    data();
    naming();
    streams();
    wide_streams();
    ELSEWHERE(_exit, "underscore_exit.c");
    ELSEWHERE(_Exit, "underscore_exit.c");
    ELSEWHERE(quick_exit, "quick_exit.c");
    ELSEWHERE(abort, "abort.c");
    ELSEWHERE(fork, "fork.c");
    ELSEWHERE(vfork, "vfork.c");
    ELSEWHERE(__vfork, "vfork.c");
    pid_t child;
    char *none[] = {"true", NULL};
    ROW(posix_spawn, posix_spawn(&child, "gone/x", NULL, NULL, none, none),
        posix_spawn(&child, "/bin/true", NULL, NULL, none, none) || waitpid(child, NULL, 0) < 0);
    ROW(posix_spawnp, posix_spawnp(&child, "gone/x", NULL, NULL, none, none),
        posix_spawnp(&child, "true", NULL, NULL, none, none) || waitpid(child, NULL, 0) < 0);
    ROW(system, system("exit 3"), system(NULL));
    /* Its success changes too much: chroot.c. */
    ROW(chroot, chroot("gone/x"), chroot("in.dat/x"));
    /* What it means for us: sandbox.c, no_counter.c. */
    ROW(prctl, prctl(PR_SET_PDEATHSIG, 9999), prctl(PR_GET_DUMPABLE) < 0);
    /* -1 is no user; to stay who one is succeeds. */
    ROW(setuid, setuid(-1), setuid(getuid()));
    ROW(seteuid, seteuid(-1), seteuid(geteuid()));
    ELSEWHERE(setreuid, "users.c");
    ELSEWHERE(setresuid, "users.c");
    ELSEWHERE(execve, "exec_family.c");
    ELSEWHERE(execv, "exec_family.c");
    ELSEWHERE(execvp, "exec_family.c");
    ELSEWHERE(execvpe, "exec_family.c");
    ELSEWHERE(execl, "exec_family.c");
    ELSEWHERE(execle, "exec_family.c");
    ELSEWHERE(execlp, "exec_family.c");
    ELSEWHERE(fexecve, "exec_family.c");
    ELSEWHERE(execveat, "exec_family.c");
    ELSEWHERE(longjmp, "longjmp.c");
    ELSEWHERE(_longjmp, "longjmp.c");
    ELSEWHERE(siglongjmp, "longjmp.c");
    ELSEWHERE(__longjmp_chk, "longjmp.c");
    ELSEWHERE(dlopen, "dlopen.c");
    ELSEWHERE(dlmopen, "dlopen.c");
    ELSEWHERE(dlclose, "dlopen.c");
    return 0;
}
