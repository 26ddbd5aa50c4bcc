/* Counts PnetCDF calls; for data calls the elements times eight. */
#include "count.h"
#include <pnetcdf.h>

__attribute__((destructor)) static void done(void) { count_write("pnetcdf"); }

#define PLAIN(name, arguments, values) \
    int name arguments                 \
    {                                  \
        count_add(#name, 0);           \
        return COUNT_NEXT(name) values; \
    }

PLAIN(ncmpi_create, (MPI_Comm comm, const char *path, int mode, MPI_Info info, int *file), (comm, path, mode, info, file))
PLAIN(ncmpi_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, int *file), (comm, path, mode, info, file))
PLAIN(ncmpi_close, (int file), (file))
PLAIN(ncmpi_enddef, (int file), (file))
PLAIN(ncmpi_redef, (int file), (file))
PLAIN(ncmpi_sync, (int file), (file))
PLAIN(ncmpi_begin_indep_data, (int file), (file))
PLAIN(ncmpi_end_indep_data, (int file), (file))
PLAIN(ncmpi_def_dim, (int file, const char *name, MPI_Offset size, int *id), (file, name, size, id))
PLAIN(ncmpi_def_var, (int file, const char *name, nc_type type, int count, const int *dimensions, int *id),
      (file, name, type, count, dimensions, id))

static long long elements(int file, int variable, const MPI_Offset *count)
{
    int dimensions;
    long long all = 1;
    COUNT_NEXT(ncmpi_inq_varndims)(file, variable, &dimensions);
    while (dimensions-- > 0)
        all *= count[dimensions];
    return all;
}

#define VARA(name)                                                                                              \
    int name(int file, int variable, const MPI_Offset *start, const MPI_Offset *count, const double *data)      \
    {                                                                                                           \
        count_add(#name, 8 * elements(file, variable, count));                                                  \
        return COUNT_NEXT(name)(file, variable, start, count, data);                                            \
    }

VARA(ncmpi_put_vara_double)
VARA(ncmpi_put_vara_double_all)
