/* A small stand-in for a simulation, with the habits that an I/O report should show: every process
 * reads the same parameter file, writes many small pieces into one file that all processes share,
 * and now and then a checkpoint of its own in large pieces. Process 0 prints its progress.
 *
 * usage: wave FOLDER
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 40, CELLS = 512, CHECKPOINT = 1 << 20, EVERY = 20 };

static char folder[1024], path[2048];

/* A file of the run's folder. */
static const char *in_folder(const char *name, int rank)
{
    if (rank < 0)
        snprintf(path, sizeof path, "%s/%s", folder, name);
    else
        snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
    return path;
}

/* Reads the parameters line by line, as every process of many programs does. */
static void read_parameters(void)
{
    char line[256];
    FILE *file = fopen(in_folder("wave.in", -1), "r");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (fgets(line, sizeof line, file))
        ;
    fclose(file);
}

/* A checkpoint for each process: few, large, aligned writes. */
static void write_checkpoint(int rank)
{
    char *block = calloc(1, CHECKPOINT);
    int fd = open(in_folder("checkpoint", rank), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (int i = 0; i < 4; i++)
        if (pwrite(fd, block, CHECKPOINT, (off_t)i * CHECKPOINT) != CHECKPOINT)
            MPI_Abort(MPI_COMM_WORLD, 2);
    fsync(fd);
    close(fd);
    free(block);
}

int main(int argc, char **argv)
{
    int rank, size;
    double cells[CELLS];
    MPI_File field;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : ".");
    read_parameters();

    FILE *progress = rank ? NULL : fopen(in_folder("progress.log", -1), "w");
    MPI_File_open(MPI_COMM_WORLD, in_folder("field.dat", -1), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                  MPI_INFO_NULL, &field);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < CELLS; i++)
            cells[i] = step + i * 0.5 + rank;
        /* Each process writes its 4 KiB beside those of the others, independently. */
        MPI_Offset at = ((MPI_Offset)step * size + rank) * (MPI_Offset)sizeof cells;
        MPI_File_write_at(field, at, cells, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
        if (step % EVERY == EVERY - 1)
            write_checkpoint(rank);
        if (progress)
            fprintf(progress, "step %d of %d\n", step + 1, STEPS);
    }
    MPI_File_close(&field);
    if (progress)
        fclose(progress);
    MPI_Finalize();
    return 0;
}
