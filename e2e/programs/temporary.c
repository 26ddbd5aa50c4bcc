/* mkstemp and its relations: the name is made inside libc, after the call it stands in the
 * template. tmpfile has none. */
#include "expect.h"
#include <sys/mman.h>

static void used(const char *name, int fd) {
    must(fd >= 0);
    write_times(fd, 2, 10);
    must(close(fd) == 0);
    expect_posix(name, 1, 2, 20, 0, 0);
    must(unlink(name) == 0);
}

int main(void) {
    char a[] = "a-XXXXXX", b[] = "b-XXXXXX", c[] = "c-XXXXXX.dat", d[] = "d-XXXXXX.dat";
    used(a, mkstemp(a));
    used(b, mkostemp(b, O_CLOEXEC));
    used(c, mkstemps(c, 4));
    used(d, mkostemps(d, 4, O_CLOEXEC));
    char wrong[] = "no-template";
    must(mkstemp(wrong) == -1);
    printf("mkstemp: %s\n", strerror(errno));
    FILE *stream = tmpfile();
    must(stream && fputs("temporary", stream) >= 0 && fclose(stream) == 0);
    expect_stdio("<TMPFILE>", 1, 1, 9, 0, 0);
    /* A file without a name belongs to its directory, and is not it. */
    must(mkdir("below", 0755) == 0);
    int unnamed = open("below", O_TMPFILE | O_RDWR, 0600);
    printf("a file without a name: %s\n", unnamed < 0 ? strerror(errno) : "made");
    if (unnamed >= 0) {
        write_times(unnamed, 3, 100);
        must(close(unnamed) == 0);
        expect_posix("below/<unnamed>", 1, 3, 300, 0, 0);
        expect("below/<unnamed>", "POSIX_MODE", 0600);
    }
    int memory = memfd_create("in memory", MFD_CLOEXEC);
    write_times(memory, 1, 10);
    must(close(memory) == 0);
    return 0;
}
