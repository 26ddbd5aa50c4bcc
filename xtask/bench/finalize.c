/* finalize FILES shared|own FOLDER: every rank opens, writes and closes FILES files, the same as the others or
 * its own; then all ranks end MPI at the same moment. Says the seconds that MPI_Finalize took, a line a rank. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    int rank, files = atoi(argv[1]), shared = strcmp(argv[2], "shared") == 0;
    char name[4096], block[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < files; i++) {
        snprintf(name, sizeof name, "%s/f.%d.%d", argv[3], shared ? 0 : rank, i);
        int file = open(name, O_CREAT | O_WRONLY, 0644);
        if (pwrite(file, block, sizeof block, (off_t)rank * 64) != sizeof block)
            perror(name);
        close(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    MPI_Finalize();
    char line[64];
    int length = snprintf(line, sizeof line, "finalize %.9f\n", now() - begin);
    if (write(1, line, (size_t)length) != length)
        return 1;
    return 0;
}
