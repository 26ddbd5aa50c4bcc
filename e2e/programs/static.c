/* A static executable: no loader, so LD_PRELOAD is not read. It runs, and there is no log. */
#include "expect.h"

int main(void) {
    int fd = open("static.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 3, 10);
    printf("static\n");
    return 0;
}
