/* open and fcntl are variadic: with and without their last argument, and with a mode that must
 * arrive untouched (O_CREAT, O_TMPFILE). */
#include "expect.h"

static void mode_of(const char *label, int fd) {
    struct stat facts;
    must(fd >= 0 && fstat(fd, &facts) == 0);
    printf("%s: %o\n", label, facts.st_mode & 07777);
}

int main(void) {
    umask(0);
    mode_of("open", open("a.dat", O_RDWR | O_CREAT, 0604));
    mode_of("openat", openat(AT_FDCWD, "b.dat", O_RDWR | O_CREAT, 0640));
    mode_of("creat", creat("c.dat", 0711));
    mode_of("O_TMPFILE", open(".", O_RDWR | O_TMPFILE, 0600));
    mode_of("without a mode", open("a.dat", O_RDONLY));
    int fd = open("a.dat", O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    must(fcntl(fd, F_SETLK, &whole) == 0);
    must(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    printf("flags %x\n", fcntl(fd, F_GETFL) & O_ACCMODE);
    expect("a.dat", "POSIX_OPENS", 3);
    expect("a.dat", "POSIX_STATS", 2);
    expect("a.dat", "POSIX_MODE", 0604);
    expect("b.dat", "POSIX_OPENS", 1);
    expect("b.dat", "POSIX_STATS", 1);
    expect("b.dat", "POSIX_MODE", 0640);
    expect("c.dat", "POSIX_OPENS", 1);
    expect("c.dat", "POSIX_STATS", 1);
    expect("c.dat", "POSIX_MODE", 0711);
    return 0;
}
