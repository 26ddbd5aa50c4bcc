/* requests SIZE COUNT ROUNDS FOLDER: as IOR does, every rank writes COUNT requests of SIZE bytes to its part of
 * a file of all and reads them again, ROUNDS times; each time once through the C library, where a tool stands in
 * between, and once past it. Where in memory the file and the rank lie makes a larger difference than a tool,
 * and is the same for both. Says, a line a rank, the nanoseconds of processor time of a request in the middle
 * round: how much more written through than past, written past, and the same for reads. */
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

static int order(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double middle(double *values, long count) {
    qsort(values, (size_t)count, sizeof *values, order);
    return values[count / 2];
}

static int file;
static char *block;
static size_t size;
static long count;
static off_t base;

/* Nanoseconds that a request took. */
static double pass(int reads, int through) {
    double begin = cpu();
    for (long i = 0; i < count; i++) {
        off_t at = base + i * (off_t)size;
        ssize_t done = !through ? past(reads ? SYS_pread64 : SYS_pwrite64, file, block, size, at)
                       : reads  ? pread(file, block, size, at)
                                : pwrite(file, block, size, at);
        if (done != (ssize_t)size)
            exit(1);
    }
    return (cpu() - begin) / (double)count;
}

int main(int argc, char **argv) {
    int rank;
    size = (size_t)atol(argv[1]);
    count = atol(argv[2]);
    long rounds = atol(argv[3]);
    char name[4096];
    double *more[2], *beside[2];
    for (int reads = 0; reads < 2; reads++) {
        more[reads] = calloc((size_t)rounds, sizeof(double));
        beside[reads] = calloc((size_t)rounds, sizeof(double));
    }
    block = aligned_alloc(4096, size);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/requests", argv[4]);
    for (size_t i = 0; i < size; i++)
        block[i] = (char)i;
    file = open(name, O_CREAT | O_RDWR, 0644);
    base = (off_t)rank * count * (off_t)size;
    for (long round = 0; round < rounds; round++)
        for (int reads = 0; reads < 2; reads++) {
            /* Both ways find in the caches what a way past has left there. */
            pass(reads, 0);
            double through = pass(reads, 1);
            pass(reads, 0);
            beside[reads][round] = pass(reads, 0);
            more[reads][round] = through - beside[reads][round];
        }
    close(file);
    MPI_Finalize();
    char line[128];
    int length = snprintf(line, sizeof line, "request %.1f %.1f %.1f %.1f\n", middle(more[0], rounds),
                          middle(beside[0], rounds), middle(more[1], rounds), middle(beside[1], rounds));
    return write(1, line, (size_t)length) == length ? 0 : 1;
}
