/* Counts MPI-IO through the MPI profiling interface, from C and from Fortran: calls, and for data
 * calls count times the size of the type. */
#include "count.h"
#include <mpi.h>

__attribute__((destructor)) static void done(void) { count_write("mpiio"); }

/* Inside a Fortran call: MPICH's bindings come by the C names again, Open MPI's do not. */
static __thread int in_fortran;

static void add(const char *function, long long bytes)
{
    if (!in_fortran)
        count_add(function, bytes);
}

static long long bytes(int count, MPI_Datatype type)
{
    MPI_Count size;
    PMPI_Type_size_x(type, &size);
    return (long long)size * count;
}

#define PLAIN(name, arguments, values)   \
    int MPI_File_##name arguments        \
    {                                    \
        add("MPI_File_" #name, 0); \
        return PMPI_File_##name values;  \
    }

PLAIN(open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file), (comm, path, mode, info, file))
PLAIN(close, (MPI_File *file), (file))
PLAIN(sync, (MPI_File file), (file))
PLAIN(set_size, (MPI_File file, MPI_Offset size), (file, size))
PLAIN(get_size, (MPI_File file, MPI_Offset *size), (file, size))
PLAIN(preallocate, (MPI_File file, MPI_Offset size), (file, size))
PLAIN(delete, (const char *path, MPI_Info info), (path, info))
PLAIN(seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
PLAIN(set_view,
      (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype view, const char *form, MPI_Info info),
      (file, at, unit, view, form, info))

#define AT(name, constant, last)                                                                                   \
    int MPI_File_##name(MPI_File file, MPI_Offset offset, constant void *data, int count, MPI_Datatype type, last) \
    {                                                                                                              \
        add("MPI_File_" #name, bytes(count, type));                                                          \
        return PMPI_File_##name(file, offset, data, count, type, then);                                            \
    }

AT(write_at, const, MPI_Status *then)
AT(write_at_all, const, MPI_Status *then)
AT(read_at, , MPI_Status *then)
AT(read_at_all, , MPI_Status *then)
AT(iwrite_at, const, MPI_Request *then)
AT(iread_at, , MPI_Request *then)

#define HERE(name, constant)                                                                           \
    int MPI_File_##name(MPI_File file, constant void *data, int count, MPI_Datatype type, MPI_Status *status) \
    {                                                                                                  \
        add("MPI_File_" #name, bytes(count, type));                                              \
        return PMPI_File_##name(file, data, count, type, status);                                      \
    }

HERE(write, const)
HERE(write_all, const)
HERE(read, )
HERE(read_all, )

/* Fortran's bindings need not pass the C names above, so their own names are counted. */
void pmpi_file_open_(MPI_Fint *, char *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, size_t);
void pmpi_file_close_(MPI_Fint *, MPI_Fint *);
void pmpi_file_write_at_(MPI_Fint *, MPI_Offset *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void pmpi_file_write_at_all_(MPI_Fint *, MPI_Offset *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
#pragma weak pmpi_file_open_
#pragma weak pmpi_file_close_
#pragma weak pmpi_file_write_at_
#pragma weak pmpi_file_write_at_all_

void mpi_file_open_(MPI_Fint *comm, char *path, MPI_Fint *mode, MPI_Fint *info, MPI_Fint *file, MPI_Fint *error, size_t length)
{
    count_add("MPI_File_open", 0);
    in_fortran = 1;
    pmpi_file_open_(comm, path, mode, info, file, error, length);
    in_fortran = 0;
}

void mpi_file_close_(MPI_Fint *file, MPI_Fint *error)
{
    count_add("MPI_File_close", 0);
    in_fortran = 1;
    pmpi_file_close_(file, error);
    in_fortran = 0;
}

#define FORTRAN_AT(lower, name)                                                                                       \
    void mpi_file_##lower##_(MPI_Fint *file, MPI_Offset *offset, void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *status, \
                             MPI_Fint *error)                                                                         \
    {                                                                                                                 \
        count_add("MPI_File_" name, bytes(*count, MPI_Type_f2c(*type)));                                              \
        in_fortran = 1;                                                                                               \
        pmpi_file_##lower##_(file, offset, data, count, type, status, error);                                         \
        in_fortran = 0;                                                                                               \
    }

FORTRAN_AT(write_at, "write_at")
FORTRAN_AT(write_at_all, "write_at_all")
