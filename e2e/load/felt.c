/* Calls that take as long as something lets them: `felt FILE SECONDS WHAT`, where WHAT is
 *   copy CORE  reads of 4 MiB from memory, one after the other on this core: whoever else computes there makes them slow
 *   sync       writes of 16 KiB that wait for the disk, with a pause between them: whoever else writes there makes them slow
 *   own        reads of a pipe that this program itself answers after 20 to 400 ms, other times every second by a fixed row of
 *              numbers: nobody else makes them slow */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COPY = 4 << 20, SYNC = 16 << 10 };

static long seconds;
static struct timespec begun;

static long passed(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - begun.tv_sec;
}

static void rest(long milliseconds) {
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static int copy(const char *path, int core, char *block) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) return 2;
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    if (fd < 0 || pwrite(fd, block, COPY, 0) != COPY) return 3;
    while (passed() < seconds)
        if (pread(fd, block, COPY, 0) != COPY) return 3;
    return close(fd);
}

static int synchronous(const char *path, const char *block) {
    int fd = open(path, O_CREAT | O_RDWR | O_DSYNC, 0600);
    if (fd < 0) return 2;
    for (off_t number = 0; passed() < seconds; number++) {
        if (pwrite(fd, block, SYNC, number % 16 * SYNC) != SYNC) return 3;
        rest(5);
    }
    return close(fd);
}

/* Answers each read after as long as this second's number says. */
static void *answer(void *to) {
    int fd = *(int *)to;
    uint64_t state = 88172645463325252u;
    for (long second = -1, pause = 0; passed() <= seconds; ) {
        if (passed() != second) {
            second = passed();
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            pause = 20 + (long)(state % 380);
        }
        rest(pause);
        if (write(fd, "x", 1) != 1) break;
    }
    return NULL;
}

static int own(const char *path) {
    char byte;
    pthread_t other;
    if (mkfifo(path, 0600) != 0) return 2;
    int fd = open(path, O_RDWR);
    if (fd < 0 || pthread_create(&other, NULL, answer, &fd) != 0) return 2;
    while (passed() < seconds)
        if (read(fd, &byte, 1) != 1) return 3;
    pthread_join(other, NULL);
    return close(fd);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    seconds = atol(argv[2]);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    char *block = malloc(COPY);
    if (!block) return 2;
    memset(block, 'x', COPY);
    if (strcmp(argv[3], "copy") == 0 && argc > 4) return copy(argv[1], atoi(argv[4]), block);
    if (strcmp(argv[3], "sync") == 0) return synchronous(argv[1], block);
    return strcmp(argv[3], "own") == 0 ? own(argv[1]) : 2;
}
