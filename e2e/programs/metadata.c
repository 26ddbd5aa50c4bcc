/* Calls on names that no Darshan counter stands for: they work, and how often each was called is
 * known. */
#include "expect.h"
#include <dirent.h>

int main(void) {
    must(mkdir("folder", 0755) == 0 && mkdirat(AT_FDCWD, "other", 0755) == 0);
    int fd = open("folder/file.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    must(link("folder/file.dat", "hard") == 0 && symlink("folder/file.dat", "soft") == 0);
    must(access("hard", R_OK) == 0 && faccessat(AT_FDCWD, "gone", R_OK, 0) == -1);
    must(chmod("hard", 0600) == 0 && fchmod(fd, 0640) == 0);
    must(fchmodat(AT_FDCWD, "hard", 0600, 0) == 0);
    char target[64];
    must(readlink("soft", target, sizeof target) == 15);
    DIR *folder = opendir("folder");
    int entries = 0;
    must(folder);
    while (readdir(folder))
        entries++;
    must(closedir(folder) == 0);
    must(unlink("hard") == 0 && unlinkat(AT_FDCWD, "soft", 0) == 0);
    must(unlink("folder/file.dat") == 0 && rmdir("folder") == 0 && remove("other") == 0);
    must(rmdir("gone") == -1);
    printf("%d entries; rmdir: %s\n", entries, strerror(errno));
    expect("folder/file.dat", "POSIX_OPENS", 1);
    const char *twice[] = {"unlink", "rmdir"};
    for (int i = 0; i < 2; i++)
        expect_calls(twice[i], 2);
    const char *once[] = {"mkdir",  "mkdirat",  "link",     "symlink", "access",  "faccessat", "chmod",
                          "fchmod", "fchmodat", "readlink", "opendir", "closedir", "unlinkat", "remove"};
    for (unsigned i = 0; i < sizeof once / sizeof *once; i++)
        expect_calls(once[i], 1);
    expect_calls("readdir", entries + 1);
    return 0;
}
