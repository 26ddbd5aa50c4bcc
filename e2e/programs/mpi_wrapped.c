/* An application with its own wrapper of an MPI function, as profiling tools have them: it calls the
 * library's function by its other name. The call counts once. */
#include <mpi.h>
#include <stdio.h>

static int wrapped;

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *from, int count, MPI_Datatype type,
                      MPI_Status *status) {
    wrapped++;
    return PMPI_File_write_at(file, at, from, count, type, status);
}

int main(int argc, char **argv) {
    static char block[700];
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "wrapped.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    for (int i = 0; i < 3; i++)
        MPI_File_write_at(file, (MPI_Offset)(rank * 3 + i) * sizeof block, block, sizeof block,
                          MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (rank == 0)
        printf("wrapped %d calls\n", wrapped);
    MPI_Finalize();
    return 0;
}
