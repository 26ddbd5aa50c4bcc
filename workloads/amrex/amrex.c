/* amrex: plot files in bursts with computing between, which waits for them or not (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"
#include <pthread.h>

enum { SYNC, OVERLAPPED };

static long long plots = 10, boxes = 16, box = 8, components = 6, particles = 2, compute = 500, mode = SYNC;

static const struct knob knobs[] = {
    {"plots", KNOB_COUNT, &plots, "plot files", 1, 9999, NULL},
    {"boxes", KNOB_COUNT, &boxes, "boxes of each rank", 1, 1 << 16, NULL},
    {"box", KNOB_COUNT, &box, "cells along each edge of a box", 1, 512, NULL},
    {"components", KNOB_COUNT, &components, "components of a cell", 1, 1000, NULL},
    {"particles", KNOB_COUNT, &particles, "particles of a cell", 0, 1000, NULL},
    {"compute", KNOB_COUNT, &compute, "milliseconds of computing between plot files", 0, 600000, NULL},
    {"mode", KNOB_CHOICE, &mode, "computing waits for the plot file, or goes on meanwhile", 0, 0, "sync|overlapped"},
    {0},
};

/* Doubles of a box, and of the particles in it. */
static long long mesh_of(void) { return box * box * box * components; }
static long long crowd_of(void) { return box * box * box * particles; }

static void expect(long long ranks)
{
    long long sets = particles ? 2 : 1;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "hdf5", "H5Fcreate", plots);
        expect_calls(rank, "hdf5", "H5Gcreate2", plots);
        expect_calls(rank, "hdf5", "H5Acreate2", plots);
        expect_data(rank, "hdf5", "H5Awrite", plots, plots * 8);
        expect_calls(rank, "hdf5", "H5Aclose", plots);
        expect_calls(rank, "hdf5", "H5Dcreate2", plots * sets);
        expect_data(rank, "hdf5", "H5Dwrite", plots * boxes * sets, plots * boxes * (mesh_of() + crowd_of()) * 8);
        expect_calls(rank, "hdf5", "H5Dclose", plots * sets);
        expect_calls(rank, "hdf5", "H5Gclose", plots);
        expect_calls(rank, "hdf5", "H5Fclose", plots);
    }
    for (long long plot = 0; plot < plots; plot++) {
        expect_file("hdf5", -1, "plt%05lld.h5", plot)->written_least = ranks * boxes * (mesh_of() + crowd_of()) * 8;
        expect_dataset((uint64_t)(2 * plot), ranks * boxes * mesh_of() * 8, "/level_0/data:datatype=0");
        if (particles)
            expect_dataset((uint64_t)(2 * plot + 1), ranks * boxes * crowd_of() * 8, "/level_0/particles:datatype=0");
        expect_dataset((uint64_t)plot, 8, "/level_0@time");
    }
}

/* A data set of all boxes of all ranks, written box by box as the library finds them. */
static void write_boxes(hid_t group, const char *name, uint64_t stream, long long doubles, hid_t transfer)
{
    hsize_t size = (hsize_t)(crew.ranks * boxes * doubles), count = (hsize_t)doubles;
    double *data = crew_memory((size_t)doubles * 8);
    hid_t set = hdf5_dataset(group, name, 1, &size);
    for (long long b = 0; b < boxes; b++) {
        hsize_t start = (hsize_t)((crew.rank * boxes + b) * doubles);
        content_fill(data, stream, start * 8, count * 8);
        hdf5_write(set, name, 1, &start, &count, transfer, data);
    }
    hdf5_dataset_close(set, name);
    free(data);
}

static void write_plot(long long plot)
{
    char name[64];
    snprintf(name, sizeof name, "plt%05lld.h5", plot);
    hid_t access = hdf5_access(HDF5_NO_HINTS), transfer = hdf5_transfer(0);
    hid_t file = hdf5_create(name, access), group = hdf5_group(file, "level_0");
    uint64_t time = content_word((uint64_t)plot, 0);
    hid_t attribute = hdf5_attribute(group, "time", 1);
    hdf5_attribute_write(attribute, "time", &time);
    hdf5_attribute_close(attribute, "time");
    write_boxes(group, "data:datatype=0", (uint64_t)(2 * plot), mesh_of(), transfer);
    if (particles)
        write_boxes(group, "particles:datatype=0", (uint64_t)(2 * plot + 1), crowd_of(), transfer);
    hdf5_ok(H5Gclose(group), "H5Gclose", name);
    hdf5_close(file, name);
    H5Pclose(transfer);
    H5Pclose(access);
}

static void *write_behind(void *plot)
{
    write_plot((long long)(intptr_t)plot);
    return NULL;
}

/* A burst, then computing. Overlapped, a second thread writes meanwhile; it alone calls HDF5 and MPI until
 * it is joined, so a library without locks will do. */
static void burst(long long plot)
{
    pthread_t writer;
    if (mode == SYNC)
        write_plot(plot);
    else if (pthread_create(&writer, NULL, write_behind, (void *)(intptr_t)plot))
        crew_fail("no thread to write with");
    crew_compute((double)compute * 1e-3);
    if (mode == OVERLAPPED)
        pthread_join(writer, NULL);
}

int main(int argc, char **argv)
{
    knob_read("amrex", knobs, argc, argv);
    hdf5_limit((mesh_of() > crowd_of() ? mesh_of() : crowd_of()) * 8, "--box, --components and --particles");
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, mode == OVERLAPPED);
    double start = crew_now();
    for (long long plot = 0; plot < plots; plot++)
        burst(plot);
    crew_report("computed and wrote", start, crew_now(), plots * boxes * (mesh_of() + crowd_of()) * 8);
    return crew_end();
}
