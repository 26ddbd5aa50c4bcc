/* rename, renameat and renameat2: the old name is a source, the new one a target. */
#include "expect.h"

int main(void) {
    int fd = open("old.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 10);
    must(rename("old.dat", "new.dat") == 0);
    write_times(fd, 1, 10);
    must(renameat(AT_FDCWD, "new.dat", AT_FDCWD, "newer.dat") == 0);
    must(renameat2(AT_FDCWD, "newer.dat", AT_FDCWD, "newest.dat", RENAME_NOREPLACE) == 0);
    must(rename("missing", "anything") == -1);
    printf("rename: %s\n", strerror(errno));
    expect_posix("old.dat", 1, 2, 20, 0, 0);
    expect("old.dat", "POSIX_RENAME_SOURCES", 1);
    expect("new.dat", "POSIX_RENAME_TARGETS", 1);
    expect("new.dat", "POSIX_RENAME_SOURCES", 1);
    expect("newer.dat", "POSIX_RENAME_TARGETS", 1);
    expect("newer.dat", "POSIX_RENAME_SOURCES", 1);
    expect("newest.dat", "POSIX_RENAME_TARGETS", 1);
    return 0;
}
