/* Writes that feel what the machine does: `felt FILE BYTES SECONDS [sync]`. A block after the other, with a pause
 * between them; with `sync` each waits for the disk. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    size_t size = strtoul(argv[2], NULL, 10);
    long seconds = atol(argv[3]);
    int wait = argc > 4 && strcmp(argv[4], "sync") == 0;
    int fd = open(argv[1], O_CREAT | O_RDWR | (wait ? O_DSYNC : 0), 0600);
    char *block = malloc(size);
    if (fd < 0 || !block) return 2;
    memset(block, 'x', size);
    struct timespec begun, now, pause = {0, 5000000};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    long number = 0;
    do {
        if (pwrite(fd, block, size, (off_t)(number++ % 16) * (off_t)size) != (ssize_t)size) return 3;
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begun.tv_sec < seconds);
    close(fd);
    return 0;
}
