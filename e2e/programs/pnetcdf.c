/* PnetCDF with a known answer: every verb and every kind of request, of C types and of MPI types, blocking and
 * not, on fixed and record variables, on one process. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#define must(call)                                                                         \
    do {                                                                                   \
        int error_ = (call);                                                               \
        if (error_ != NC_NOERR) {                                                          \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, ncmpi_strerror(error_)); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static MPI_Offset start[2] = {1, 2}, count[2] = {2, 3}, stride[2] = {2, 2}, map[2] = {3, 1};
static double data[64];
static int numbers[64];

/* Writes: 6 elements of 8 bytes each, unless said. */
static void blocking(int file, int field)
{
    MPI_Offset one[2] = {0, 0}, *starts[2] = {one, start}, *counts[2] = {count, NULL};
    must(ncmpi_put_var_double_all(file, field, data)); /* all 60 */
    must(ncmpi_put_var1_double_all(file, field, start, data)); /* 1 */
    must(ncmpi_put_vara_double_all(file, field, start, count, data));
    must(ncmpi_put_vars_int_all(file, field, start, count, stride, numbers));
    must(ncmpi_put_varm_double_all(file, field, start, count, stride, map, data));
    must(ncmpi_put_varn_double_all(file, field, 2, starts, counts, data)); /* 6 + 1 */
    must(ncmpi_put_vara_all(file, field, start, count, data, 6, MPI_DOUBLE));
    must(ncmpi_get_vara_float_all(file, field, start, count, (float *)data));
    must(ncmpi_get_vars_all(file, field, start, count, stride, data, 6, MPI_DOUBLE));
}

static void independent(int file, int field)
{
    must(ncmpi_begin_indep_data(file));
    must(ncmpi_put_vara_double(file, field, start, count, data));
    must(ncmpi_get_var1_double(file, field, start, data)); /* 1 */
    must(ncmpi_end_indep_data(file));
}

static void non_blocking(int file, int field)
{
    int requests[4], states[4];
    MPI_Offset one[2] = {0, 0}, *starts[2] = {one, start};
    must(ncmpi_buffer_attach(file, 4096));
    must(ncmpi_iput_vara_double(file, field, start, count, data, &requests[0]));
    must(ncmpi_bput_vars_double(file, field, start, count, stride, data, &requests[1]));
    must(ncmpi_iput_varn_double(file, field, 2, starts, NULL, data, &requests[2])); /* 1 + 1 */
    must(ncmpi_iget_varm(file, field, start, count, stride, map, data, 6, MPI_DOUBLE, &requests[3]));
    must(ncmpi_wait_all(file, 4, requests, states));
    must(ncmpi_buffer_detach(file));
}

/* Several variables in one call: 6 elements of the field and 20 of the series; then 2 elements of the field. */
static void several(int file, int field, int series)
{
    int both[2] = {field, series}, twice[2] = {field, field};
    MPI_Offset first[2] = {0, 0}, two[2] = {2, 10};
    MPI_Offset *starts[2] = {start, first}, *counts[2] = {count, two};
    double *written[2] = {data, data};
    int *read[2] = {numbers, numbers + 1};
    must(ncmpi_mput_vara_double_all(file, 2, both, starts, counts, written));
    must(ncmpi_mget_var1_int_all(file, 2, twice, starts, read));
}

int main(int argc, char **argv)
{
    int file, rows, columns, records, field, series, found;
    MPI_Init(&argc, &argv);
    must(ncmpi_create(MPI_COMM_WORLD, "data.nc", NC_CLOBBER, MPI_INFO_NULL, &file));
    must(ncmpi_def_dim(file, "rows", 6, &rows));
    must(ncmpi_def_dim(file, "columns", 10, &columns));
    must(ncmpi_def_dim(file, "records", NC_UNLIMITED, &records));
    int both[2] = {rows, columns}, growing[2] = {records, columns};
    must(ncmpi_def_var(file, "field", NC_DOUBLE, 2, both, &field));
    must(ncmpi_def_var(file, "series", NC_SHORT, 2, growing, &series));
    must(ncmpi_put_att_text(file, NC_GLOBAL, "title", 4, "test"));
    must(ncmpi_enddef(file));
    blocking(file, field);
    independent(file, field);
    non_blocking(file, field);
    MPI_Offset first[2] = {0, 0}, two[2] = {2, 10};
    must(ncmpi_put_vara_int_all(file, series, first, two, numbers)); /* 20 of 2 bytes */
    must(ncmpi_get_var_int_all(file, series, numbers)); /* 2 records of 10 */
    several(file, field, series);
    must(ncmpi_sync(file));
    must(ncmpi_close(file));
    must(ncmpi_open(MPI_COMM_WORLD, "data.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
    must(ncmpi_inq_varid(file, "field", &found));
    must(ncmpi_get_vara_double_all(file, found, start, count, data));
    must(ncmpi_close(file));
    if (ncmpi_open(MPI_COMM_WORLD, "missing.nc", NC_NOWRITE, MPI_INFO_NULL, &file) == NC_NOERR)
        return 1;
    MPI_Finalize();
    printf("done\n");
    return 0;
}
