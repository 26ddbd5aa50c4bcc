/* flash: checkpoints with many attributes and small data sets, whose attributes are opened twice
 * (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"

enum { INDEPENDENT, COLLECTIVE };
enum { TWICE, ONCE };
enum { TABLE = 16 /* doubles in a table of run-time parameters */ };

static long long checkpoints = 5, unknowns = 10, cells = 4096, attributes = 2, tables = 4;
static long long mode = INDEPENDENT, opened = TWICE, aggregators = 8;

static const struct knob knobs[] = {
    {"checkpoints", KNOB_COUNT, &checkpoints, "files, one after the other", 1, 9999, NULL},
    {"unknowns", KNOB_COUNT, &unknowns, "variables in a file", 1, 1000, NULL},
    {"cells", KNOB_COUNT, &cells, "doubles of a variable on each rank", 1, 1 << 26, NULL},
    {"attributes", KNOB_COUNT, &attributes, "attributes of a variable", 0, 1000, NULL},
    {"tables", KNOB_COUNT, &tables, "small data sets, which rank 0 writes alone", 0, 1000, NULL},
    {"mode", KNOB_CHOICE, &mode, "how ranks write", 0, 0, "independent|collective"},
    {"open", KNOB_CHOICE, &opened, "attributes are opened a second time to be written, or not", 0, 0, "twice|once"},
    {"aggregators", KNOB_COUNT, &aggregators, "hint cb_nodes: the aggregators asked for", 1, 100000, NULL},
    {0},
};

static void expect(long long ranks)
{
    long long named = checkpoints * unknowns * attributes;
    for (long long rank = 0; rank < ranks; rank++) {
        long long small = rank == 0 ? checkpoints * tables : 0;
        expect_calls(rank, "hdf5", "H5Fcreate", checkpoints);
        expect_calls(rank, "hdf5", "H5Dcreate2", checkpoints * (unknowns + tables));
        expect_data(rank, "hdf5", "H5Dwrite", checkpoints * unknowns + small, checkpoints * unknowns * cells * 8 + small * TABLE * 8);
        expect_calls(rank, "hdf5", "H5Dclose", checkpoints * (unknowns + tables));
        expect_calls(rank, "hdf5", "H5Acreate2", named);
        expect_calls(rank, "hdf5", "H5Aopen", opened == TWICE ? named : 0);
        expect_data(rank, "hdf5", "H5Awrite", named, named * 8);
        expect_calls(rank, "hdf5", "H5Aclose", opened == TWICE ? 2 * named : named);
        expect_calls(rank, "hdf5", "H5Fclose", checkpoints);
    }
    for (long long c = 0; c < checkpoints; c++) {
        expect_file("hdf5", -1, "flash_hdf5_chk_%04lld", c)->written_least = unknowns * ranks * cells * 8 + tables * TABLE * 8;
        for (long long t = 0; t < tables; t++)
            expect_dataset((uint64_t)(1000 + t), TABLE * 8, "/table_%lld", t);
        for (long long u = 0; u < unknowns; u++) {
            expect_dataset((uint64_t)(c * unknowns + u), ranks * cells * 8, "/unk_%04lld", u);
            for (long long a = 0; a < attributes; a++)
                expect_dataset((uint64_t)a, 8, "/unk_%04lld@attribute_%lld", u, a);
        }
    }
}

static void attribute_name(char name[32], long long a)
{
    snprintf(name, 32, "attribute_%lld", a);
}

/* For the sake of modules that do not know each other: made and closed here, written later. */
static void make_attributes(hid_t set)
{
    char name[32];
    for (long long a = 0; a < attributes; a++) {
        attribute_name(name, a);
        hdf5_attribute_close(hdf5_attribute(set, name, 1), name);
    }
}

static void write_attributes(hid_t set)
{
    char name[32];
    for (long long a = 0; a < attributes; a++) {
        uint64_t value = content_word((uint64_t)a, 0);
        attribute_name(name, a);
        hid_t attribute = opened == TWICE ? hdf5_ok(H5Aopen(set, name, H5P_DEFAULT), "H5Aopen", name)
                                          : hdf5_attribute(set, name, 1);
        hdf5_attribute_write(attribute, name, &value);
        hdf5_attribute_close(attribute, name);
    }
}

static void write_table(hid_t file, long long table, hid_t alone, double *data)
{
    char name[32];
    hsize_t size = TABLE, start = 0;
    snprintf(name, sizeof name, "table_%lld", table);
    hid_t set = hdf5_dataset(file, name, 1, &size);
    content_fill(data, (uint64_t)(1000 + table), 0, TABLE * 8);
    if (crew.rank == 0)
        hdf5_write(set, name, 1, &start, &size, alone, data);
    hdf5_dataset_close(set, name);
}

static void write_unknown(hid_t file, long long checkpoint, long long unknown, hid_t transfer, double *data)
{
    char name[32];
    hsize_t all = (hsize_t)(cells * crew.ranks), start = (hsize_t)(cells * crew.rank), count = (hsize_t)cells;
    snprintf(name, sizeof name, "unk_%04lld", unknown);
    hid_t set = hdf5_dataset(file, name, 1, &all);
    if (opened == TWICE)
        make_attributes(set);
    content_fill(data, (uint64_t)(checkpoint * unknowns + unknown), start * 8, count * 8);
    hdf5_write(set, name, 1, &start, &count, transfer, data);
    write_attributes(set);
    hdf5_dataset_close(set, name);
}

/* Many aggregators are asked for; with the usual cb_config_list a node gives one all the same. */
static hdf5_hints hints(void)
{
#ifdef WITHOUT_MPI
    return HDF5_NO_HINTS;
#else
    MPI_Info info;
    char text[32];
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%lld", aggregators);
    MPI_Info_set(info, "cb_nodes", text);
    MPI_Info_set(info, "romio_cb_write", mode == COLLECTIVE ? "enable" : "automatic");
    return info;
#endif
}

int main(int argc, char **argv)
{
    knob_read("flash", knobs, argc, argv);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    hdf5_hints info = hints();
    hid_t access = hdf5_access(info), transfer = hdf5_transfer(mode == COLLECTIVE), alone = hdf5_transfer(0);
    double *data = crew_memory((size_t)(cells > TABLE ? cells : TABLE) * 8);
    double start = crew_now();
    for (long long c = 0; c < checkpoints; c++) {
        char name[64];
        snprintf(name, sizeof name, "flash_hdf5_chk_%04lld", c);
        hid_t file = hdf5_create(name, access);
        for (long long t = 0; t < tables; t++)
            write_table(file, t, alone, data);
        for (long long u = 0; u < unknowns; u++)
            write_unknown(file, c, u, transfer, data);
        hdf5_close(file, name);
    }
    crew_report("wrote", start, crew_now(), checkpoints * unknowns * cells * 8);
    H5Pclose(alone);
    H5Pclose(transfer);
    H5Pclose(access);
#ifndef WITHOUT_MPI
    MPI_Info_free(&info);
#endif
    free(data);
    return crew_end();
}
