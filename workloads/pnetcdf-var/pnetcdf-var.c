/* pnetcdf-var: variables of a netCDF file, written by all ranks through PnetCDF (see README.md). */
#include "content.h"
#include "crew.h"
#include "expect.h"
#include <pnetcdf.h>

enum { INDEPENDENT, COLLECTIVE };

static long long variables = 4, rows = 64, columns = 256, pieces = 8, mode = INDEPENDENT;

static const struct knob knobs[] = {
    {"variables", KNOB_COUNT, &variables, "variables of the file", 1, 1000, NULL},
    {"rows", KNOB_COUNT, &rows, "rows of each rank in a variable", 1, 1 << 20, NULL},
    {"columns", KNOB_COUNT, &columns, "doubles of a row", 1, 1 << 20, NULL},
    {"pieces", KNOB_COUNT, &pieces, "calls in which a rank writes its rows; must divide them", 1, 1 << 20, NULL},
    {"mode", KNOB_CHOICE, &mode, "how ranks write", 0, 0, "independent|collective"},
    {0},
};

static void expect(long long ranks)
{
    int all = mode == COLLECTIVE;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "pnetcdf", "ncmpi_create", 1);
        expect_calls(rank, "pnetcdf", "ncmpi_def_dim", 2);
        expect_calls(rank, "pnetcdf", "ncmpi_def_var", variables);
        expect_calls(rank, "pnetcdf", "ncmpi_enddef", 1);
        expect_calls(rank, "pnetcdf", "ncmpi_begin_indep_data", !all);
        expect_data(rank, "pnetcdf", all ? "ncmpi_put_vara_double_all" : "ncmpi_put_vara_double", variables * pieces,
                    variables * rows * columns * 8);
        expect_calls(rank, "pnetcdf", "ncmpi_end_indep_data", !all);
        expect_calls(rank, "pnetcdf", "ncmpi_close", 1);
    }
    expect_file("pnetcdf", -1, "variables.nc")->written_least = ranks * variables * rows * columns * 8;
    for (long long v = 0; v < variables; v++)
        expect_dataset((uint64_t)v, ranks * rows * columns * 8, "var_%lld", v);
}

static void check(int code, const char *function)
{
    if (code != NC_NOERR)
        crew_fail("%s: %s", function, ncmpi_strerror(code));
}

static int define(int file, int *ids)
{
    int dimensions[2];
    check(ncmpi_def_dim(file, "row", crew.ranks * rows, &dimensions[0]), "ncmpi_def_dim");
    check(ncmpi_def_dim(file, "column", columns, &dimensions[1]), "ncmpi_def_dim");
    for (long long v = 0; v < variables; v++) {
        char name[32];
        snprintf(name, sizeof name, "var_%lld", v);
        check(ncmpi_def_var(file, name, NC_DOUBLE, 2, dimensions, &ids[v]), "ncmpi_def_var");
    }
    return ncmpi_enddef(file);
}

static void write_variable(int file, int id, long long variable, double *data)
{
    MPI_Offset count[2] = {rows / pieces, columns};
    for (long long piece = 0; piece < pieces; piece++) {
        MPI_Offset start[2] = {crew.rank * rows + piece * count[0], 0};
        content_fill(data, (uint64_t)variable, (uint64_t)(start[0] * columns * 8), (size_t)(count[0] * columns * 8));
        if (mode == COLLECTIVE)
            check(ncmpi_put_vara_double_all(file, id, start, count, data), "ncmpi_put_vara_double_all");
        else
            check(ncmpi_put_vara_double(file, id, start, count, data), "ncmpi_put_vara_double");
    }
}

int main(int argc, char **argv)
{
    knob_read("pnetcdf-var", knobs, argc, argv);
    if (rows % pieces)
        knob_refuse("--pieces must divide --rows: %lld rows are not %lld equal pieces", rows, pieces);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    int file, *ids = crew_memory((size_t)variables * sizeof *ids);
    double *data = crew_memory((size_t)(rows / pieces * columns) * 8);
    check(ncmpi_create(MPI_COMM_WORLD, "variables.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "ncmpi_create");
    check(define(file, ids), "ncmpi_enddef");
    if (mode == INDEPENDENT)
        check(ncmpi_begin_indep_data(file), "ncmpi_begin_indep_data");
    double start = crew_now();
    for (long long v = 0; v < variables; v++)
        write_variable(file, ids[v], v, data);
    crew_report("wrote", start, crew_now(), variables * rows * columns * 8);
    if (mode == INDEPENDENT)
        check(ncmpi_end_indep_data(file), "ncmpi_end_indep_data");
    check(ncmpi_close(file), "ncmpi_close");
    free(data);
    free(ids);
    return crew_end();
}
