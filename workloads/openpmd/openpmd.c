/* openpmd: meshes written mini block by mini block, or as the slabs they form (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"

enum { SLOW, TUNED };

static long long steps = 10, meshes = 3, edge = 16, rows = 2, columns = 4, attributes = 4;
static long long mode = SLOW, alignment = 16 << 20;

static const struct knob knobs[] = {
    {"steps", KNOB_COUNT, &steps, "iterations, a file each", 1, 9999999, NULL},
    {"meshes", KNOB_COUNT, &meshes, "meshes of a step", 1, 1000, NULL},
    {"edge", KNOB_COUNT, &edge, "cells along each edge of a mini block", 1, 512, NULL},
    {"rows", KNOB_COUNT, &rows, "mini blocks of a rank along the first dimension", 1, 4096, NULL},
    {"columns", KNOB_COUNT, &columns, "mini blocks along the second and the third dimension", 1, 128, NULL},
    {"attributes", KNOB_COUNT, &attributes, "attributes of a mesh", 0, 1000, NULL},
    {"mode", KNOB_CHOICE, &mode, "independent mini blocks, or collective aligned slabs", 0, 0, "slow|tuned"},
    {"alignment", KNOB_BYTES, &alignment, "boundary for data and collective buffers (tuned)", 1, 1LL << 40, NULL},
    {0},
};

/* Cells of a rank in one mesh, and its mini blocks. */
static long long blocks_of(void) { return rows * columns * columns; }
static long long cells_of(void) { return blocks_of() * edge * edge * edge; }

static void expect(long long ranks)
{
    long long sets = steps * meshes, writes = mode == TUNED ? 1 : blocks_of();
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "hdf5", "H5Fcreate", steps);
        expect_calls(rank, "hdf5", "H5Gcreate2", steps);
        expect_calls(rank, "hdf5", "H5Dcreate2", sets);
        expect_calls(rank, "hdf5", "H5Acreate2", sets * attributes);
        expect_data(rank, "hdf5", "H5Awrite", sets * attributes, sets * attributes * 8);
        expect_calls(rank, "hdf5", "H5Aclose", sets * attributes);
        expect_data(rank, "hdf5", "H5Dwrite", sets * writes, sets * cells_of() * 8);
        expect_calls(rank, "hdf5", "H5Dclose", sets);
        expect_calls(rank, "hdf5", "H5Gclose", steps);
        expect_calls(rank, "hdf5", "H5Fclose", steps);
    }
    for (long long step = 0; step < steps; step++) {
        expect_file("hdf5", -1, "8a_parallel_3Db_%07lld.h5", step + 1)->written_least = meshes * ranks * cells_of() * 8;
        for (long long mesh = 0; mesh < meshes; mesh++) {
            expect_dataset((uint64_t)(step * meshes + mesh), ranks * cells_of() * 8, "/fields/mesh_%lld", mesh);
            for (long long a = 0; a < attributes; a++)
                expect_dataset((uint64_t)a, 8, "/fields/mesh_%lld@unit_%lld", mesh, a);
        }
    }
}

/* Fills a box of the mesh: every run along the third dimension has its place in the data set. */
static void fill(double *data, uint64_t stream, const hsize_t size[3], const hsize_t start[3], const hsize_t count[3])
{
    for (hsize_t x = 0; x < count[0]; x++)
        for (hsize_t y = 0; y < count[1]; y++, data += count[2])
            content_fill(data, stream, (((start[0] + x) * size[1] + start[1] + y) * size[2] + start[2]) * 8, count[2] * 8);
}

struct mesh {
    hid_t set, transfer;
    const char *name;
    uint64_t stream;
    hsize_t size[3];
};

static void write_box(const struct mesh *mesh, const hsize_t start[3], const hsize_t count[3], double *data)
{
    fill(data, mesh->stream, mesh->size, start, count);
    hdf5_write(mesh->set, mesh->name, 3, start, count, mesh->transfer, data);
}

static void write_mesh(const struct mesh *mesh, double *data)
{
    hsize_t one = (hsize_t)edge, tall = (hsize_t)(rows * edge), first = (hsize_t)crew.rank * tall;
    if (mode == TUNED) {
        hsize_t start[3] = {first, 0, 0}, count[3] = {tall, mesh->size[1], mesh->size[2]};
        write_box(mesh, start, count, data);
        return;
    }
    hsize_t count[3] = {one, one, one};
    for (hsize_t x = first; x < first + tall; x += one)
        for (hsize_t y = 0; y < mesh->size[1]; y += one)
            for (hsize_t z = 0; z < mesh->size[2]; z += one)
                write_box(mesh, (hsize_t[3]){x, y, z}, count, data);
}

static void write_attributes(hid_t set)
{
    for (long long a = 0; a < attributes; a++) {
        char name[32];
        uint64_t value = content_word((uint64_t)a, 0);
        snprintf(name, sizeof name, "unit_%lld", a);
        hid_t attribute = hdf5_attribute(set, name, 1);
        hdf5_attribute_write(attribute, name, &value);
        hdf5_attribute_close(attribute, name);
    }
}

static void write_step(long long step, hid_t access, hid_t transfer, double *data)
{
    char file_name[64], name[32];
    snprintf(file_name, sizeof file_name, "8a_parallel_3Db_%07lld.h5", step + 1);
    hid_t file = hdf5_create(file_name, access), group = hdf5_group(file, "fields");
    for (long long m = 0; m < meshes; m++) {
        hsize_t wide = (hsize_t)(columns * edge);
        struct mesh mesh = {0, transfer, name, (uint64_t)(step * meshes + m), {(hsize_t)(crew.ranks * rows * edge), wide, wide}};
        snprintf(name, sizeof name, "mesh_%lld", m);
        mesh.set = hdf5_dataset(group, name, 3, mesh.size);
        write_attributes(mesh.set);
        write_mesh(&mesh, data);
        hdf5_dataset_close(mesh.set, name);
    }
    hdf5_ok(H5Gclose(group), "H5Gclose", "fields");
    hdf5_close(file, file_name);
}

/* What the paper's cure was: collective metadata, data on boundaries, collective buffers of their size. */
static hid_t tuned_access(void)
{
    hid_t access;
#ifdef WITHOUT_MPI
    access = hdf5_access(HDF5_NO_HINTS);
#else
    MPI_Info info;
    char text[32];
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%lld", alignment);
    MPI_Info_set(info, "cb_buffer_size", text);
    MPI_Info_set(info, "romio_cb_write", "enable");
    access = hdf5_access(info);
    MPI_Info_free(&info);
    H5Pset_all_coll_metadata_ops(access, 1);
    H5Pset_coll_metadata_write(access, 1);
#endif
    hdf5_ok(H5Pset_alignment(access, 4096, (hsize_t)alignment), "H5Pset_alignment", "");
    return access;
}

int main(int argc, char **argv)
{
    knob_read("openpmd", knobs, argc, argv);
    hdf5_limit((mode == TUNED ? cells_of() : edge * edge * edge) * 8, "--edge, --rows and --columns");
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    hid_t access = mode == TUNED ? tuned_access() : hdf5_access(HDF5_NO_HINTS), transfer = hdf5_transfer(mode == TUNED);
    double *data = crew_memory((size_t)(mode == TUNED ? cells_of() : edge * edge * edge) * 8);
    double start = crew_now();
    for (long long step = 0; step < steps; step++)
        write_step(step, access, transfer, data);
    crew_report("wrote", start, crew_now(), steps * meshes * cells_of() * 8);
    H5Pclose(transfer);
    H5Pclose(access);
    free(data);
    return crew_end();
}
