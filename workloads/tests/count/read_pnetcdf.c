/* read_pnetcdf FILE VARIABLE: writes a variable of doubles to standard output, in this machine's order. */
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code, const char *function)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "read_pnetcdf: %s: %s\n", function, ncmpi_strerror(code));
    exit(1);
}

int main(int argc, char **argv)
{
    int file, id, dimensions, ids[8];
    MPI_Init(&argc, &argv);
    if (argc < 3)
        return 64;
    check(ncmpi_open(MPI_COMM_SELF, argv[1], NC_NOWRITE, MPI_INFO_NULL, &file), "ncmpi_open");
    check(ncmpi_inq_varid(file, argv[2], &id), "ncmpi_inq_varid");
    check(ncmpi_inq_varndims(file, id, &dimensions), "ncmpi_inq_varndims");
    if (dimensions > 8)
        return 1;
    check(ncmpi_inq_vardimid(file, id, ids), "ncmpi_inq_vardimid");
    size_t all = 1;
    for (int i = 0; i < dimensions; i++) {
        MPI_Offset size;
        check(ncmpi_inq_dimlen(file, ids[i], &size), "ncmpi_inq_dimlen");
        all *= (size_t)size;
    }
    double *data = malloc(all * sizeof *data);
    if (!data)
        return 1;
    check(ncmpi_get_var_double_all(file, id, data), "ncmpi_get_var_double_all");
    check(ncmpi_close(file), "ncmpi_close");
    int short_write = fwrite(data, sizeof *data, all, stdout) != all;
    MPI_Finalize();
    return short_write;
}
