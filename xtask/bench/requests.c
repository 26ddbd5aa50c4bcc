/* requests SIZE COUNT ROUNDS FOLDER: as IOR does, every rank writes COUNT requests of SIZE bytes to its part of
 * a file of all and reads them again, ROUNDS times. Says the nanoseconds of processor time that a request took
 * in the best round of writing and of reading, a line a rank. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    int rank;
    size_t size = (size_t)atol(argv[1]);
    long count = atol(argv[2]), rounds = atol(argv[3]);
    char name[4096], *block = aligned_alloc(4096, size);
    double best[2] = {1e18, 1e18};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/requests", argv[4]);
    for (size_t i = 0; i < size; i++)
        block[i] = (char)i;
    int file = open(name, O_CREAT | O_RDWR, 0644);
    off_t base = (off_t)rank * count * (off_t)size;
    for (long round = -1; round < rounds; round++)
        for (int read = 0; read < 2; read++) {
            double begin = cpu();
            for (long i = 0; i < count; i++) {
                off_t at = base + i * (off_t)size;
                ssize_t done = read ? pread(file, block, size, at) : pwrite(file, block, size, at);
                if (done != (ssize_t)size)
                    return 1;
            }
            double took = (cpu() - begin) / (double)count;
            if (round >= 0 && took < best[read])
                best[read] = took;
        }
    close(file);
    MPI_Finalize();
    char line[64];
    int length = snprintf(line, sizeof line, "request %.1f %.1f\n", best[0], best[1]);
    return write(1, line, (size_t)length) == length ? 0 : 1;
}
