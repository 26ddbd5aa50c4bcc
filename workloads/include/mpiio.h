/* MPI-IO calls of a workload, checked: files report errors instead of ending the program, so each call
 * is asked whether it went well, and data calls whether they moved everything. */
#ifndef MPIIO_H
#define MPIIO_H

#include "crew.h"

static void mpiio_check(int code, const char *function, const char *file)
{
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    crew_fail("%s on %s: %s", function, file, text);
}

static MPI_File mpiio_open(MPI_Comm comm, const char *name, int mode, MPI_Info info)
{
    MPI_File file;
    mpiio_check(MPI_File_open(comm, name, mode, info, &file), "MPI_File_open", name);
    return file;
}

static void mpiio_close(MPI_File *file, const char *name)
{
    mpiio_check(MPI_File_close(file), "MPI_File_close", name);
}

typedef int mpiio_write(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
typedef int mpiio_read(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);

static void mpiio_moved(MPI_Status *status, int count, MPI_Datatype type, const char *name)
{
    int moved;
    MPI_Get_count(status, type, &moved);
    if (moved != count)
        crew_fail("%s: %d of %d elements moved", name, moved, count);
}

/* Writes with MPI_File_write_at or MPI_File_write_at_all. */
static void mpiio_put(mpiio_write *function, MPI_File file, const char *name, long long offset, const void *data,
                      int count, MPI_Datatype type)
{
    MPI_Status status;
    mpiio_check(function(file, offset, data, count, type, &status), "writing", name);
    mpiio_moved(&status, count, type, name);
}

static void mpiio_get(mpiio_read *function, MPI_File file, const char *name, long long offset, void *data, int count,
                      MPI_Datatype type)
{
    MPI_Status status;
    mpiio_check(function(file, offset, data, count, type, &status), "reading", name);
    mpiio_moved(&status, count, type, name);
}

#endif
