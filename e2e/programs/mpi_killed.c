/* Every rank appends blocks of 64 bytes to a file of its own, in all 20,000; the file itself then says how many
 * it has written. Rank 1 is killed by SIGKILL after as many microseconds as the first argument says, wherever
 * it is by then. With `leave` as the second argument the other ranks do not end MPI together, but each for
 * itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *killer(void *after) {
    usleep((useconds_t)atoi(after));
    kill(getpid(), SIGKILL);
    return NULL;
}

int main(int argc, char **argv) {
    char name[32], block[64] = {0};
    int rank, given;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "killed.%d.dat", rank);
    int file = open(name, O_CREAT | O_WRONLY | O_APPEND, 0644);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        pthread_create(&thread, NULL, killer, argv[1]);
    for (int i = 0; i < 20000; i++)
        if (write(file, block, sizeof block) != sizeof block)
            return 1;
    close(file);
    if (argc > 2 && strcmp(argv[2], "leave") == 0)
        _exit(0);
    MPI_Finalize();
    return 0;
}
