/* chroot and chdir after the start: names are those of the moment of the open, and the log still
 * goes where it can, or nowhere. */
#include "expect.h"

int main(void) {
    int fd = open("outside.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 10);
    must(mkdir("jail", 0755) == 0);
    if (geteuid() == 0)
        must(chroot("jail") == 0 && chdir("/") == 0);
    int inside = open("inside.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(inside >= 0);
    write_times(inside, 1, 10);
    printf("wrote on both sides\n");
    return 0;
}
