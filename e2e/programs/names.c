/* One file, many ways to name it: relative, after chdir, through openat and a directory, with dots,
 * and with double dots. The record's name is absolute, without doubled slashes and single dots.
 * Double dots stay: after a symbolic link they lead elsewhere than they look. */
#include "expect.h"

int main(void) {
    must(mkdir("below", 0755) == 0);
    int names = 0;
    int fd = open("below/file.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && ++names);
    write_times(fd, 1, 10);
    fd = open("./below//file.dat", O_RDWR);
    must(fd >= 0 && ++names);
    write_times(fd, 1, 10);
    fd = open("below/../below/./file.dat", O_RDWR);
    must(fd >= 0);
    write_times(fd, 1, 10);
    expect_posix("below/../below/file.dat", 1, 1, 10, 0, 0);
    int directory = open("below", O_RDONLY | O_DIRECTORY);
    must(directory >= 0);
    fd = openat(directory, "file.dat", O_RDWR);
    must(fd >= 0 && ++names);
    write_times(fd, 1, 10);
    must(chdir("below") == 0);
    fd = open("file.dat", O_RDWR);
    must(fd >= 0 && ++names);
    write_times(fd, 1, 10);
    expect_posix("below/file.dat", names, names, 10 * names, 0, 0);
    expect("below", "POSIX_OPENS", 1);
    printf("%d names\n", names);
    return 0;
}
