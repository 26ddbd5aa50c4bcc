/* A job that starts another: every rank writes five blocks of 100 bytes to its own file, then all together spawn
 * two processes, which write three blocks each. Both worlds end MPI, after they have parted. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void blocks(const char *of, int rank, int count) {
    char name[32], block[100] = {0};
    snprintf(name, sizeof name, "%s.%d.dat", of, rank);
    int file = open(name, O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < count; i++)
        if (write(file, block, sizeof block) != sizeof block)
            perror(name);
    close(file);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Comm parent, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        blocks("parent", rank, 5);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&other);
    } else {
        blocks("child", rank, 3);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
