/* A job without MPI_Init: every rank begins a session, makes a communicator of all ranks from it, and writes four
 * blocks of 100 bytes to its own file. The same goes to its part of a file of all through MPI-IO, where MPI has
 * that in sessions: MPICH 5.0 and Open MPI 5.0 refuse to open files there, Intel MPI does not. Where MPI has no sessions
 * (before MPI 4) it ends with 77. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm all;
    MPI_File file;
    char name[32], block[100] = {0};
    int rank, size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "netra.e2e", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    MPI_Group_free(&group);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    snprintf(name, sizeof name, "own.%d.dat", rank);
    int own = open(name, O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < 4; i++)
        if (write(own, block, sizeof block) != sizeof block)
            perror(name);
    close(own);
    if (MPI_File_open(all, "session.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS) {
        for (int i = 0; i < 4; i++)
            MPI_File_write_at(file, (MPI_Offset)(rank * 4 + i) * 100, block, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
    return size < 2;
#else
    return 77;
#endif
}
