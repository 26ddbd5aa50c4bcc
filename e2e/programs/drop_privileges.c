/* A daemon that gives up its rights after the start: the log directory may no longer be writable
 * for it at the end, and it must not notice. */
#include "expect.h"

int main(void) {
    int fd = open("dropped.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 2, 10);
    if (geteuid() == 0)
        must(setgid(65534) == 0 && setuid(65534) == 0);
    write_times(fd, 3, 10);
    printf("wrote five times\n");
    return 0;
}
