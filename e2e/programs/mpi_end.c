/* How an MPI program can end, after every rank has written ten blocks: `finalize`, `exit` without it,
 * `abort` by one rank, `kill` of one rank by SIGKILL while the others wait; and `thread`, where a thread
 * begins MPI and another does the I/O. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static char block[500];

static void *begin(void *unused) {
    int given;
    (void)unused;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    return NULL;
}

static void work(void) {
    char name[32];
    MPI_File file;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "end.%d.dat", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(file, (MPI_Offset)i * sizeof block, block, sizeof block, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "finalize";
    pthread_t thread;
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, begin, NULL);
        pthread_join(thread, NULL);
    } else {
        MPI_Init(&argc, &argv);
    }
    work();
    if (strcmp(how, "abort") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "kill") == 0 && rank == 1)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0 || strcmp(how, "kill") == 0)
        pause();
    if (strcmp(how, "exit") == 0)
        _exit(0);
    MPI_Finalize();
    return 0;
}
