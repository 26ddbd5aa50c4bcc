/* mpi-io-test: every rank writes blocks in turn and reads them back (see README.md). */
#include "content.h"
#include "expect.h"
#include "mpiio.h"

enum { INDEPENDENT, COLLECTIVE };
enum { SHARED, PER_RANK };

static long long block = 16 << 20, iterations = 10, mode = INDEPENDENT, layout = SHARED, readback = 1;

static const struct knob knobs[] = {
    {"block", KNOB_BYTES, &block, "bytes of one write", 1, 1 << 30, NULL},
    {"iterations", KNOB_COUNT, &iterations, "blocks each rank writes", 1, 1 << 16, NULL},
    {"mode", KNOB_CHOICE, &mode, "how ranks write", 0, 0, "independent|collective"},
    {"file", KNOB_CHOICE, &layout, "one file for all or one each", 0, 0, "shared|per-rank"},
    {"read", KNOB_CHOICE, &readback, "read everything back", 0, 0, "no|yes"},
    {0},
};

static void expect(long long ranks)
{
    long long mine = block * iterations;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "mpiio", "MPI_File_open", 1);
        expect_data(rank, "mpiio", mode == COLLECTIVE ? "MPI_File_write_at_all" : "MPI_File_write_at", iterations, mine);
        if (readback)
            expect_data(rank, "mpiio", mode == COLLECTIVE ? "MPI_File_read_at_all" : "MPI_File_read_at", iterations, mine);
        expect_calls(rank, "mpiio", "MPI_File_close", 1);
    }
    for (long long file = 0; file < (layout == SHARED ? 1 : ranks); file++) {
        long long size = layout == SHARED ? mine * ranks : mine;
        struct expect_file *made = layout == SHARED ? expect_file("mpiio", size, "mpi-io-test.dat")
                                                    : expect_file("mpiio", size, "mpi-io-test.%lld.dat", file);
        made->written = size;
        made->read = readback ? size : 0;
        expect_words((uint64_t)file, 0, size);
    }
}

static long long offset_of(long long iteration)
{
    return (layout == SHARED ? iteration * crew.ranks + crew.rank : iteration) * block;
}

static void run(void)
{
    char name[64] = "mpi-io-test.dat";
    uint64_t stream = layout == SHARED ? 0 : (uint64_t)crew.rank;
    if (layout == PER_RANK)
        snprintf(name, sizeof name, "mpi-io-test.%d.dat", crew.rank);
    unsigned char *data = crew_memory((size_t)block);
    MPI_File file = mpiio_open(layout == SHARED ? MPI_COMM_WORLD : MPI_COMM_SELF, name,
                               MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);

    double start = crew_now();
    for (long long i = 0; i < iterations; i++) {
        content_fill(data, stream, (uint64_t)offset_of(i), (size_t)block);
        mpiio_put(mode == COLLECTIVE ? MPI_File_write_at_all : MPI_File_write_at, file, name, offset_of(i), data,
                  (int)block, MPI_BYTE);
    }
    crew_report("wrote", start, crew_now(), block * iterations);

    start = crew_now();
    for (long long i = 0; i < iterations && readback; i++) {
        mpiio_get(mode == COLLECTIVE ? MPI_File_read_at_all : MPI_File_read_at, file, name, offset_of(i), data,
                  (int)block, MPI_BYTE);
        if (content_wrong(data, stream, (uint64_t)offset_of(i), (size_t)block))
            crew_fail("%s: block %lld is not what was written", name, i);
    }
    if (readback)
        crew_report("read", start, crew_now(), block * iterations);
    mpiio_close(&file, name);
    free(data);
}

int main(int argc, char **argv)
{
    knob_read("mpi-io-test", knobs, argc, argv);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    run();
    return crew_end();
}
