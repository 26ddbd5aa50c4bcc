/* A set-user-id program: the loader drops LD_PRELOAD when the ids differ. It runs, and there is no
 * log. */
#include "expect.h"

int main(void) {
    printf("ids differ: %s, LD_PRELOAD: %s\n", getuid() == geteuid() ? "no" : "yes",
           getenv("LD_PRELOAD") ? "set" : "removed");
    int fd = open("setuid.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 3, 10);
    return 0;
}
