/* qmcpack: a checkpoint that is overwritten in place, section after section (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"

enum { OVERWRITE, NEW };

static long long sections = 5, walkers = 1024, electrons = 8, mode = OVERWRITE;

static const struct knob knobs[] = {
    {"sections", KNOB_COUNT, &sections, "sections of the run, each with a checkpoint", 1, 999, NULL},
    {"walkers", KNOB_COUNT, &walkers, "walkers of each rank", 1, 1 << 24, NULL},
    {"electrons", KNOB_COUNT, &electrons, "electrons of a walker, three doubles each", 1, 10000, NULL},
    {"mode", KNOB_CHOICE, &mode, "the same checkpoint again, or a new file each time", 0, 0, "overwrite|new"},
    {0},
};

static void expect_checkpoint(long long section, long long ranks, long long times)
{
    long long bytes = ranks * walkers * electrons * 24;
    expect_file("hdf5", -1, "qmc.s%03lld.config.h5", mode == NEW ? section : 0)->written_least = times * bytes;
    expect_dataset((uint64_t)section, bytes, "/state_0/walkers");
    expect_dataset((uint64_t)(1000 + section), 8, "/state_0@section");
}

static void expect(long long ranks)
{
    long long made = mode == NEW ? sections : 1, again = sections - made;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "hdf5", "H5Fcreate", made);
        expect_calls(rank, "hdf5", "H5Fopen", again);
        expect_calls(rank, "hdf5", "H5Gcreate2", made);
        expect_calls(rank, "hdf5", "H5Gopen2", again);
        expect_calls(rank, "hdf5", "H5Dcreate2", made);
        expect_calls(rank, "hdf5", "H5Dopen2", again);
        expect_calls(rank, "hdf5", "H5Acreate2", made);
        expect_calls(rank, "hdf5", "H5Aopen", again);
        expect_data(rank, "hdf5", "H5Dwrite", sections, sections * walkers * electrons * 24);
        expect_data(rank, "hdf5", "H5Awrite", sections, sections * 8);
        expect_calls(rank, "hdf5", "H5Aclose", sections);
        expect_calls(rank, "hdf5", "H5Dclose", sections);
        expect_calls(rank, "hdf5", "H5Gclose", sections);
        expect_calls(rank, "hdf5", "H5Fclose", sections);
    }
    for (long long section = mode == NEW ? 0 : sections - 1; section < sections; section++)
        expect_checkpoint(section, ranks, mode == NEW ? 1 : sections);
}

struct place {
    hid_t file, group, set, attribute;
};

static struct place create(const char *name, hid_t access, const hsize_t size[2])
{
    struct place place;
    place.file = hdf5_create(name, access);
    place.group = hdf5_group(place.file, "state_0");
    place.set = hdf5_dataset(place.group, "walkers", 2, size);
    place.attribute = hdf5_attribute(place.group, "section", 1);
    return place;
}

/* The same file, the same data set: the last good checkpoint ends here, before the new one is complete. */
static struct place reopen(const char *name, hid_t access)
{
    struct place place;
    place.file = hdf5_ok(H5Fopen(name, H5F_ACC_RDWR, access), "H5Fopen", name);
    place.group = hdf5_ok(H5Gopen2(place.file, "state_0", H5P_DEFAULT), "H5Gopen2", "state_0");
    place.set = hdf5_ok(H5Dopen2(place.group, "walkers", H5P_DEFAULT), "H5Dopen2", "walkers");
    place.attribute = hdf5_ok(H5Aopen(place.group, "section", H5P_DEFAULT), "H5Aopen", "section");
    return place;
}

static void checkpoint(long long section, hid_t access, hid_t transfer, double *data)
{
    char name[64];
    hsize_t wide = (hsize_t)(electrons * 3), size[2] = {(hsize_t)(walkers * crew.ranks), wide};
    hsize_t start[2] = {(hsize_t)(walkers * crew.rank), 0}, count[2] = {(hsize_t)walkers, wide};
    snprintf(name, sizeof name, "qmc.s%03lld.config.h5", mode == NEW ? section : 0);
    struct place place = mode == NEW || section == 0 ? create(name, access, size) : reopen(name, access);
    content_fill(data, (uint64_t)section, start[0] * wide * 8, count[0] * wide * 8);
    hdf5_write(place.set, "walkers", 2, start, count, transfer, data);
    uint64_t value = content_word((uint64_t)(1000 + section), 0);
    hdf5_attribute_write(place.attribute, "section", &value);
    hdf5_attribute_close(place.attribute, "section");
    hdf5_dataset_close(place.set, "walkers");
    hdf5_ok(H5Gclose(place.group), "H5Gclose", "state_0");
    hdf5_close(place.file, name);
}

int main(int argc, char **argv)
{
    knob_read("qmcpack", knobs, argc, argv);
    hdf5_limit(walkers * electrons * 24, "--walkers and --electrons");
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    hid_t access = hdf5_access(HDF5_NO_HINTS), transfer = hdf5_transfer(0);
    double *data = crew_memory((size_t)(walkers * electrons * 24));
    double start = crew_now();
    for (long long section = 0; section < sections; section++)
        checkpoint(section, access, transfer, data);
    crew_report("wrote", start, crew_now(), sections * walkers * electrons * 24);
    H5Pclose(transfer);
    H5Pclose(access);
    free(data);
    return crew_end();
}
