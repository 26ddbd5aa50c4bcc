/* requests SIZE COUNT ROUNDS FOLDER: as IOR does, every rank writes COUNT requests of SIZE bytes to its part of
 * a file of all and reads them again, ROUNDS times; each time once through the C library, where a tool stands in
 * between, and once past it. Where in memory the file and the rank lie makes a larger difference than a tool,
 * and is the same for both. Says, a line a rank, the nanoseconds of processor time of a request in the best
 * round: written, written past, read, read past. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "past.h"

static double cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The odd ones go past. */
enum { WRITE, WRITE_PAST, READ, READ_PAST, KINDS };

static long request(int kind, int file, void *block, size_t size, off_t at) {
    switch (kind) {
    case WRITE:
        return pwrite(file, block, size, at);
    case WRITE_PAST:
        return past(SYS_pwrite64, file, block, size, at);
    case READ:
        return pread(file, block, size, at);
    default:
        return past(SYS_pread64, file, block, size, at);
    }
}

int main(int argc, char **argv) {
    int rank;
    size_t size = (size_t)atol(argv[1]);
    long count = atol(argv[2]), rounds = atol(argv[3]);
    char name[4096], *block = aligned_alloc(4096, size);
    double best[KINDS] = {1e18, 1e18, 1e18, 1e18};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/requests", argv[4]);
    for (size_t i = 0; i < size; i++)
        block[i] = (char)i;
    int file = open(name, O_CREAT | O_RDWR, 0644);
    off_t base = (off_t)rank * count * (off_t)size;
    for (long round = -1; round < rounds; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            /* Both ways find in the caches what the way past has left there. */
            double begin = 0;
            for (int timed = 0; timed < 2; timed++) {
                begin = cpu();
                for (long i = 0; i < count; i++)
                    if (request(timed ? kind : kind | 1, file, block, size, base + i * (off_t)size) != (long)size)
                        return 1;
            }
            double took = (cpu() - begin) / (double)count;
            if (round >= 0 && took < best[kind])
                best[kind] = took;
        }
    close(file);
    MPI_Finalize();
    char line[128];
    int length = snprintf(line, sizeof line, "request %.1f %.1f %.1f %.1f\n", best[WRITE], best[WRITE_PAST],
                          best[READ], best[READ_PAST]);
    return write(1, line, (size_t)length) == length ? 0 : 1;
}
