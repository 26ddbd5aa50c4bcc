/* hacc-io: the five kernels of the ECP study, nine variables in one shared file (see README.md). */
#include "content.h"
#include "expect.h"
#include "hdf5_file.h"
#include "mpiio.h"

enum { MPI_CONTIGUOUS, MPI_INTERLEAVED, HDF5_INDIVIDUAL, HDF5_MULTI, HDF5_COMPOUND };
enum { INDEPENDENT, COLLECTIVE };
enum { VARIABLES = 9 };

static const char *const names[VARIABLES] = {"id", "mask", "x", "y", "z", "vx", "vy", "vz", "phi"};

static long long kernel = MPI_CONTIGUOUS, elements = 1 << 20, mode = INDEPENDENT;
static long long gap, alignment, meta_block, stripe_size, stripe_count;

static const struct knob knobs[] = {
    {"kernel", KNOB_CHOICE, &kernel, "the data layout", 0, 0, "mpi-contiguous|mpi-interleaved|hdf5-individual|hdf5-multi|hdf5-compound"},
    {"elements", KNOB_COUNT, &elements, "doubles of a variable on each rank", 1, 1 << 26, NULL},
    {"mode", KNOB_CHOICE, &mode, "how ranks write", 0, 0, "independent|collective"},
    {"gap", KNOB_BYTES, &gap, "bytes left free before the data (MPI kernels)", 0, 1LL << 40, NULL},
    {"alignment", KNOB_BYTES, &alignment, "H5Pset_alignment (HDF5 kernels); 0: not called", 0, 1LL << 40, NULL},
    {"meta-block", KNOB_BYTES, &meta_block, "H5Pset_meta_block_size (HDF5 kernels); 0: not called", 0, 1LL << 40, NULL},
    {"stripe-size", KNOB_BYTES, &stripe_size, "hint striping_unit, where the file system has stripes; 0: none", 0, 1LL << 40, NULL},
    {"stripe-count", KNOB_COUNT, &stripe_count, "hint striping_factor; 0: none", 0, 100000, NULL},
    {0},
};

static int is_hdf5(void)
{
    return kernel >= HDF5_INDIVIDUAL;
}

static void expect_hdf5(long long ranks, long long part)
{
    int compound = kernel == HDF5_COMPOUND;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "hdf5", "H5Fcreate", 1);
        expect_calls(rank, "hdf5", "H5Dcreate2", compound ? 1 : VARIABLES);
        expect_calls(rank, "hdf5", "H5Dset_extent", kernel == HDF5_MULTI ? VARIABLES * ranks : 0);
        expect_calls(rank, "hdf5", "H5Dopen2", compound ? 0 : VARIABLES);
        expect_data(rank, "hdf5", "H5Dwrite", compound ? 1 : VARIABLES, VARIABLES * part);
        expect_calls(rank, "hdf5", "H5Dclose", compound ? 1 : 2 * VARIABLES);
        expect_calls(rank, "hdf5", "H5Fclose", 1);
    }
    expect_file("hdf5", -1, "hacc-io.h5")->written_least = ranks * VARIABLES * part;
    if (compound) expect_dataset(0, ranks * VARIABLES * part, "/ALLVAR");
    for (int v = 0; v < VARIABLES && !compound; v++)
        expect_dataset((uint64_t)v, ranks * part, "/%s", names[v]);
}

static void expect(long long ranks)
{
    long long part = elements * 8;
    if (is_hdf5()) {
        expect_hdf5(ranks, part);
        return;
    }
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "mpiio", "MPI_File_open", 1);
        expect_data(rank, "mpiio", mode == COLLECTIVE ? "MPI_File_write_at_all" : "MPI_File_write_at", VARIABLES, VARIABLES * part);
        expect_calls(rank, "mpiio", "MPI_File_close", 1);
    }
    struct expect_file *file = expect_file("mpiio", gap + ranks * VARIABLES * part, "hacc-io.dat");
    file->written = ranks * VARIABLES * part;
    file->read = 0;
    expect_words(0, gap, ranks * VARIABLES * part);
}

static MPI_Info hints(void)
{
    MPI_Info info;
    char text[32];
    MPI_Info_create(&info);
    if (stripe_size) {
        snprintf(text, sizeof text, "%lld", stripe_size);
        MPI_Info_set(info, "striping_unit", text);
    }
    if (stripe_count) {
        snprintf(text, sizeof text, "%lld", stripe_count);
        MPI_Info_set(info, "striping_factor", text);
    }
    return info;
}

/* When this rank's first write began and its last one ended: nothing else is timed. */
static struct {
    double first, last;
} wrote = {-1, 0};

static void about_to_write(void)
{
    if (wrote.first < 0)
        wrote.first = crew_now();
}

static void run_mpi(MPI_Info info, double *data)
{
    const char *name = "hacc-io.dat";
    long long part = elements * 8, step = kernel == MPI_CONTIGUOUS ? part * crew.ranks : part;
    long long first = gap + crew.rank * (kernel == MPI_CONTIGUOUS ? part : VARIABLES * part);
    for (int v = 0; v < VARIABLES; v++)
        content_fill(data + v * elements, 0, (uint64_t)(first + v * step), (size_t)part);
    MPI_File file = mpiio_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, info);
    about_to_write();
    for (int v = 0; v < VARIABLES; v++)
        mpiio_put(mode == COLLECTIVE ? MPI_File_write_at_all : MPI_File_write_at, file, name, first + v * step,
                  data + v * elements, (int)elements, MPI_DOUBLE);
    wrote.last = crew_now();
    mpiio_close(&file, name);
}

/* Nine ordinary data sets whose parts lie interleaved in the file: each has one chunk for each rank, and is
 * extended by one chunk at a time, all nine in turn. HDF5 allocates a chunk of a parallel file when the
 * extent grows, at the end of the file, so the order of growing is the order in the file. */
static void create_multi(hid_t file)
{
    hsize_t none = 0, all = (hsize_t)(elements * crew.ranks), chunk = (hsize_t)elements;
    hid_t sets[VARIABLES], space = H5Screate_simple(1, &none, &all), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    for (int v = 0; v < VARIABLES; v++)
        sets[v] = hdf5_ok(H5Dcreate2(file, names[v], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2", names[v]);
    for (hsize_t size = chunk; size <= all; size += chunk)
        for (int v = 0; v < VARIABLES; v++)
            hdf5_ok(H5Dset_extent(sets[v], &size), "H5Dset_extent", names[v]);
    for (int v = 0; v < VARIABLES; v++)
        hdf5_dataset_close(sets[v], names[v]);
    H5Pclose(creation);
    H5Sclose(space);
}

static void create_individual(hid_t file)
{
    hsize_t all = (hsize_t)(elements * crew.ranks);
    for (int v = 0; v < VARIABLES; v++)
        hdf5_dataset_close(hdf5_dataset(file, names[v], 1, &all), names[v]);
}

static void write_variables(hid_t file, hid_t transfer, double *data)
{
    hsize_t start = (hsize_t)(elements * crew.rank), count = (hsize_t)elements;
    hid_t sets[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) {
        content_fill(data + v * elements, (uint64_t)v, start * 8, count * 8);
        sets[v] = hdf5_ok(H5Dopen2(file, names[v], H5P_DEFAULT), "H5Dopen2", names[v]);
    }
    about_to_write();
    for (int v = 0; v < VARIABLES; v++)
        hdf5_write(sets[v], names[v], 1, &start, &count, transfer, data + v * elements);
    wrote.last = crew_now();
    for (int v = 0; v < VARIABLES; v++)
        hdf5_dataset_close(sets[v], names[v]);
}

/* One data set of structures: one write instead of nine. */
static void write_compound(hid_t file, hid_t transfer, double *data)
{
    hsize_t all = (hsize_t)(elements * crew.ranks), start = (hsize_t)(elements * crew.rank), count = (hsize_t)elements;
    content_fill(data, 0, start * VARIABLES * 8, count * VARIABLES * 8);
    hid_t type = H5Tcreate(H5T_COMPOUND, VARIABLES * sizeof(double));
    for (size_t v = 0; v < VARIABLES; v++)
        H5Tinsert(type, names[v], v * sizeof(double), H5T_NATIVE_DOUBLE);
    hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &count, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    hid_t set = hdf5_ok(H5Dcreate2(file, "ALLVAR", type, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2", "ALLVAR");
    hdf5_ok(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL), "H5Sselect_hyperslab", "ALLVAR");
    about_to_write();
    hdf5_ok(H5Dwrite(set, type, memory, space, transfer, data), "H5Dwrite", "ALLVAR");
    wrote.last = crew_now();
    hdf5_dataset_close(set, "ALLVAR");
    H5Pclose(creation);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
}

static void run_hdf5(MPI_Info info, double *data)
{
    hid_t access = hdf5_access(info), transfer = hdf5_transfer(mode == COLLECTIVE);
    if (alignment) hdf5_ok(H5Pset_alignment(access, 0, (hsize_t)alignment), "H5Pset_alignment", "");
    if (meta_block) hdf5_ok(H5Pset_meta_block_size(access, (hsize_t)meta_block), "H5Pset_meta_block_size", "");
    hid_t file = hdf5_create("hacc-io.h5", access);
    if (kernel == HDF5_COMPOUND) {
        write_compound(file, transfer, data);
    } else {
        if (kernel == HDF5_MULTI) create_multi(file);
        else create_individual(file);
        write_variables(file, transfer, data);
    }
    hdf5_close(file, "hacc-io.h5");
    H5Pclose(transfer);
    H5Pclose(access);
}

int main(int argc, char **argv)
{
    knob_read("hacc-io", knobs, argc, argv);
    if (kernel == HDF5_COMPOUND)
        hdf5_limit(elements * VARIABLES * 8, "--elements");
    if (is_hdf5() && gap)
        knob_refuse("--gap is for the MPI kernels; HDF5 moves its data by --alignment or --meta-block");
    if (!is_hdf5() && (alignment || meta_block))
        knob_refuse("--alignment and --meta-block are for the HDF5 kernels; the MPI kernels have --gap");
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    MPI_Info info = hints();
    double *data = crew_memory((size_t)(elements * 8 * VARIABLES));
    if (is_hdf5()) run_hdf5(info, data);
    else run_mpi(info, data);
    crew_report("wrote", wrote.first, wrote.last, VARIABLES * elements * 8);
    MPI_Info_free(&info);
    free(data);
    return crew_end();
}
