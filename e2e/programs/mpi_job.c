/* A job whose log its ranks write together: every rank writes ten blocks of 100 bytes to a file of all, and
 * rank + 1 blocks of 50 bytes to its own. Then, by the first argument:
 * `finalize`: MPI ends. `print`: the same, and each rank says so on standard output afterwards.
 * `after`: rank 1 writes three more blocks to its own file after MPI has ended.
 * `late`: rank 1 comes to MPI_Finalize two seconds after the others.
 * `stray`: rank 0 waits for any message of anybody while the others already end MPI. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void blocks(const char *name, int flags, int count, size_t bytes, off_t at) {
    char block[100] = {0};
    int file = open(name, O_CREAT | O_WRONLY | flags, 0644);
    for (int i = 0; i < count; i++)
        if (pwrite(file, block, bytes, at + (off_t)i * (off_t)bytes) != (ssize_t)bytes)
            perror(name);
    close(file);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "finalize";
    char own[32];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(own, sizeof own, "own.%d.dat", rank);
    blocks("all.dat", 0, 10, 100, (off_t)rank * 1000);
    blocks(own, 0, rank + 1, 50, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "late") == 0 && rank == 1)
        sleep(2);
    if (strcmp(how, "stray") == 0 && rank == 0) {
        /* The others are in MPI_Finalize by now, but for the one whose message this is. */
        usleep(300000);
        int word = 1, got = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Isend(&word, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, &request);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("got %d from %d with %d\n", got, status.MPI_SOURCE, status.MPI_TAG);
    }
    MPI_Finalize();
    if (strcmp(how, "print") == 0)
        printf("a rank has ended MPI\n");
    if (strcmp(how, "after") == 0 && rank == 1)
        blocks(own, 0, 3, 50, 1000);
    return 0;
}
