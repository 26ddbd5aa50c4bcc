/* Every kind of MPI-IO call, each rank for itself in its own stretch of one file: what is done
 * when it returns, what is waited for, what comes in two halves, views, seeks, sizes, hints, and
 * large counts where the library has them. The file's content is checked in the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1000

static int rank, size;
static char out[BLOCK], in[BLOCK];

#define must(call)                                                                                 \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        if (code_ != MPI_SUCCESS) {                                                                \
            fprintf(stderr, "line %d: %s gave %d\n", __LINE__, #call, code_);                      \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                          \
        }                                                                                          \
    } while (0)

/* Where this rank's stretch number `which` begins. */
static MPI_Offset at(int which) {
    return ((MPI_Offset)which * size + rank) * BLOCK;
}

static void blocking(MPI_File file) {
    MPI_Status status;
    must(MPI_File_write_at(file, at(0), out, BLOCK, MPI_BYTE, &status));
    must(MPI_File_write_at_all(file, at(1), out, BLOCK / 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
    must(MPI_File_seek(file, at(2), MPI_SEEK_SET));
    must(MPI_File_write(file, out, BLOCK, MPI_BYTE, &status));
    must(MPI_File_seek(file, at(3), MPI_SEEK_SET));
    must(MPI_File_write_all(file, out, BLOCK, MPI_BYTE, &status));
    must(MPI_File_sync(file));
    must(MPI_Barrier(MPI_COMM_WORLD));
    must(MPI_File_read_at(file, at(0), in, BLOCK, MPI_BYTE, &status));
    must(MPI_File_read_at_all(file, at(1), in, BLOCK, MPI_BYTE, &status));
}

static void later(MPI_File file) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int flag = 0;
    must(MPI_File_iwrite_at(file, at(4), out, BLOCK, MPI_BYTE, &requests[0]));
    must(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        must(MPI_File_iread_at(file, at(i), in, BLOCK / 2, MPI_BYTE, &requests[i]));
    must(MPI_Waitall(3, requests, statuses));
    must(MPI_File_iwrite_at(file, at(5), out, BLOCK, MPI_BYTE, &requests[0]));
    while (!flag)
        must(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
}

static void halves(MPI_File file) {
    MPI_Status status;
    must(MPI_File_write_at_all_begin(file, at(6), out, BLOCK, MPI_BYTE));
    must(MPI_File_write_at_all_end(file, out, &status));
    must(MPI_File_read_at_all_begin(file, at(6), in, BLOCK, MPI_BYTE));
    must(MPI_File_read_at_all_end(file, in, &status));
}

static void viewed(MPI_File file) {
    MPI_Info info;
    must(MPI_Info_create(&info));
    must(MPI_Info_set(info, "cb_buffer_size", "1048576"));
    must(MPI_File_set_view(file, at(7), MPI_BYTE, MPI_BYTE, "native", info));
    must(MPI_Info_free(&info));
    must(MPI_File_write_at(file, 0, out, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    must(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
    must(MPI_File_write_at_c(file, at(8), out, (MPI_Count)BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
#else
    must(MPI_File_write_at(file, at(8), out, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
#endif
}

int main(int argc, char **argv) {
    MPI_File file;
    MPI_Offset bytes;
    must(MPI_Init(&argc, &argv));
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    must(MPI_Comm_size(MPI_COMM_WORLD, &size));
    memset(out, 'a' + rank, BLOCK);
    must(MPI_File_open(MPI_COMM_WORLD, "all.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &file));
    blocking(file);
    later(file);
    halves(file);
    viewed(file);
    must(MPI_File_set_size(file, (MPI_Offset)9 * size * BLOCK));
    must(MPI_File_get_size(file, &bytes));
    must(MPI_File_close(&file));
    char name[32];
    snprintf(name, sizeof name, "own.%d.dat", rank);
    must(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                       &file));
    must(MPI_File_write(file, out, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    must(MPI_File_close(&file));
    must(MPI_File_delete(name, MPI_INFO_NULL));
    /* An error that the application is told about, as it is without us. */
    int refused = MPI_File_open(MPI_COMM_SELF, "nowhere/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    if (rank == 0)
        printf("%lld bytes, the missing file %s\n", (long long)bytes,
               refused == MPI_SUCCESS ? "is there" : "is missing");
    must(MPI_Finalize());
    return 0;
}
