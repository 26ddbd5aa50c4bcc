/* Events at a steady rate: `paced FILE EVENTS_PER_SECOND SECONDS`. Every millisecond its share is written,
 * at moments of an absolute clock, so that what is late does not shift what follows. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    long share = atol(argv[2]) / 1000, steps = atol(argv[3]) * 1000;
    int fd = open(argv[1], O_CREAT | O_RDWR, 0600);
    if (fd < 0) return 2;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long step = 0; step < steps; step++) {
        for (long call = 0; call < share; call++)
            if (pwrite(fd, "x", 1, call) != 1) return 3;
        next.tv_nsec += 1000000;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    close(fd);
    return 0;
}
