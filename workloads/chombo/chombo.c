/* chombo: a log file of each rank, and boxes in one HDF5 file that each rank writes by itself
 * (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"
#include "posix.h"

enum { INDEPENDENT, COLLECTIVE };
enum { PER_RANK, RANK_0 };

static long long levels = 3, boxes = 8, cells = 4096, lines = 200, width = 80, mode = INDEPENDENT, pout = PER_RANK;

static const struct knob knobs[] = {
    {"levels", KNOB_COUNT, &levels, "levels of refinement", 1, 100, NULL},
    {"boxes", KNOB_COUNT, &boxes, "boxes of each rank on a level", 1, 1 << 20, NULL},
    {"cells", KNOB_COUNT, &cells, "doubles of a box", 1, 1 << 26, NULL},
    {"lines", KNOB_COUNT, &lines, "lines of the log", 0, 1 << 30, NULL},
    {"width", KNOB_BYTES, &width, "bytes of a line", 18, 4096, NULL},
    {"mode", KNOB_CHOICE, &mode, "each box by itself, or a rank's boxes of a level collectively", 0, 0, "independent|collective"},
    {"pout", KNOB_CHOICE, &pout, "who keeps a log", 0, 0, "per-rank|rank-0"},
    {0},
};

static void expect(long long ranks)
{
    for (long long rank = 0; rank < ranks; rank++) {
        long long writes = levels * (mode == COLLECTIVE ? 1 : boxes);
        expect_calls(rank, "hdf5", "H5Fcreate", 1);
        expect_calls(rank, "hdf5", "H5Gcreate2", levels);
        expect_calls(rank, "hdf5", "H5Dcreate2", levels);
        expect_data(rank, "hdf5", "H5Dwrite", writes, levels * boxes * cells * 8);
        expect_calls(rank, "hdf5", "H5Dclose", levels);
        expect_calls(rank, "hdf5", "H5Gclose", levels);
        expect_calls(rank, "hdf5", "H5Fclose", 1);
        if (pout == RANK_0 && rank > 0)
            continue;
        expect_calls(rank, "posix", "open", 1);
        expect_data(rank, "posix", "write", lines, lines * width);
        expect_calls(rank, "posix", "close", 1);
        expect_file("posix", lines * width, "pout.%lld", rank);
        expect_lines((uint64_t)rank, lines, width);
    }
    expect_file("hdf5", -1, "plot.hdf5")->written_least = ranks * levels * boxes * cells * 8;
    for (long long level = 0; level < levels; level++)
        expect_dataset((uint64_t)level, ranks * boxes * cells * 8, "/level_%lld/data:datatype=0", level);
}

static void write_log(void)
{
    char name[64], line[4097];
    if (pout == RANK_0 && crew.rank > 0)
        return;
    snprintf(name, sizeof name, "pout.%d", crew.rank);
    int fd = posix_open(name, O_WRONLY | O_CREAT | O_TRUNC);
    for (long long i = 0; i < lines; i++) {
        content_line(line, (uint64_t)crew.rank, (uint64_t)i, (size_t)width);
        posix_write(fd, name, line, (size_t)width);
    }
    posix_close(fd, name);
}

static void write_level(hid_t file, long long level, hid_t transfer, double *data)
{
    const char *name = "data:datatype=0";
    char level_name[32];
    hsize_t size = (hsize_t)(crew.ranks * boxes * cells);
    long long together = mode == COLLECTIVE ? boxes : 1;
    hsize_t count = (hsize_t)(together * cells);
    snprintf(level_name, sizeof level_name, "level_%lld", level);
    hid_t group = hdf5_group(file, level_name), set = hdf5_dataset(group, name, 1, &size);
    for (long long b = 0; b < boxes; b += together) {
        hsize_t start = (hsize_t)((crew.rank * boxes + b) * cells);
        content_fill(data, (uint64_t)level, start * 8, count * 8);
        hdf5_write(set, name, 1, &start, &count, transfer, data);
    }
    hdf5_dataset_close(set, name);
    hdf5_ok(H5Gclose(group), "H5Gclose", level_name);
}

int main(int argc, char **argv)
{
    knob_read("chombo", knobs, argc, argv);
    hdf5_limit((mode == COLLECTIVE ? boxes : 1) * cells * 8, "--boxes and --cells");
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    hid_t access = hdf5_access(HDF5_NO_HINTS), transfer = hdf5_transfer(mode == COLLECTIVE);
    double *data = crew_memory((size_t)((mode == COLLECTIVE ? boxes : 1) * cells) * 8);
    write_log();
    double start = crew_now();
    hid_t file = hdf5_create("plot.hdf5", access);
    for (long long level = 0; level < levels; level++)
        write_level(file, level, transfer, data);
    hdf5_close(file, "plot.hdf5");
    crew_report("wrote", start, crew_now(), levels * boxes * cells * 8);
    H5Pclose(transfer);
    H5Pclose(access);
    free(data);
    return crew_end();
}
