/* chroot after the start: names are those of the moment of the open, the new root gets nothing of
 * ours, and the records survive in the segment, which lies outside. */
#include "expect.h"

int main(void) {
    int fd = open("outside.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 10);
    must(mkdir("jail", 0755) == 0);
    int root = geteuid() == 0;
    /* Said now: afterwards the folder is out of reach. */
    expect_posix("outside.dat", 1, 3, 30, 0, 0);
    expect_posix(root ? "/inside.dat" : "inside.dat", 1, 1000, 10000, 0, 0);
    expect_calls("chroot", root);
    if (root)
        must(chroot("jail") == 0 && chdir("/") == 0);
    int inside = open("inside.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(inside >= 0);
    /* Enough that the segment has to grow. */
    write_times(inside, 1000, 10);
    write_times(fd, 1, 10);
    printf("wrote on both sides\n");
    return 0;
}
