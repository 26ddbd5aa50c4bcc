/* Five thousand files: more than Darshan keeps records for. Each is there, or summed under "other
 * files" with the log marked as partial. */
#include "expect.h"

int main(void) {
    for (int i = 0; i < 5000; i++) {
        char name[24];
        snprintf(name, sizeof name, "file%d.dat", i);
        int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        must(fd >= 0);
        write_times(fd, 1, 10);
        must(close(fd) == 0);
        expect_posix(name, 1, 1, 10, 0, 0);
    }
    printf("5000 files\n");
    return 0;
}
