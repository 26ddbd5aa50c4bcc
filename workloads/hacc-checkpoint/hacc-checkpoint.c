/* hacc-checkpoint: particles of nine variables, written and then validated (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"
#ifndef WITHOUT_MPI
#include "mpiio.h"
#endif

enum { POSIX, DIRECT, INDEPENDENT, COLLECTIVE };
enum { VARIABLES = 9, SECTOR = 4096 };

/* x y z vx vy vz phi as floats, the particle's number, its mask: 38 bytes a particle. */
static const long long width[VARIABLES] = {4, 4, 4, 4, 4, 4, 4, 8, 2};

static long long particles = 1000000, mode = POSIX, validate = 1;

static const struct knob knobs[] = {
    {"particles", KNOB_COUNT, &particles, "particles of each rank", 1, 1 << 27, NULL},
    {"mode", KNOB_CHOICE, &mode, "how ranks write", 0, 0, "posix|direct|independent|collective"},
    {"validate", KNOB_CHOICE, &validate, "read everything back and compare", 0, 0, "no|yes"},
    {0},
};

/* Bytes of a variable in the file: O_DIRECT moves whole sectors. */
static long long bytes_of(int variable)
{
    long long bytes = particles * width[variable];
    return mode == DIRECT ? (bytes + SECTOR - 1) / SECTOR * SECTOR : bytes;
}

static long long bytes_of_rank(void)
{
    long long bytes = 0;
    for (int v = 0; v < VARIABLES; v++)
        bytes += bytes_of(v);
    return bytes;
}

static void expect_posix(long long rank, long long bytes)
{
    expect_calls(rank, "posix", "open", 1 + validate);
    expect_data(rank, "posix", "write", VARIABLES, bytes);
    expect_calls(rank, "posix", "fsync", mode == POSIX);
    expect_data(rank, "posix", "read", validate * VARIABLES, validate * bytes);
    expect_calls(rank, "posix", "close", 1 + validate);
}

static void expect_mpiio(long long rank, long long bytes)
{
    int all = mode == COLLECTIVE;
    expect_calls(rank, "mpiio", "MPI_File_open", 1 + validate);
    expect_data(rank, "mpiio", all ? "MPI_File_write_at_all" : "MPI_File_write_at", VARIABLES, bytes);
    expect_data(rank, "mpiio", all ? "MPI_File_read_at_all" : "MPI_File_read_at", validate * VARIABLES, validate * bytes);
    expect_calls(rank, "mpiio", "MPI_File_close", 1 + validate);
}

static void expect(long long ranks)
{
    long long bytes = bytes_of_rank();
    int posix = mode == POSIX || mode == DIRECT;
    for (long long rank = 0; rank < ranks; rank++) {
        if (posix) {
            expect_posix(rank, bytes);
            expect_file("posix", bytes, "hacc.%lld.dat", rank);
            expect_words((uint64_t)rank, 0, bytes);
        } else {
            expect_mpiio(rank, bytes);
        }
    }
    if (!posix) {
        struct expect_file *file = expect_file("mpiio", bytes * ranks, "hacc.dat");
        file->written = bytes * ranks;
        file->read = validate * bytes * ranks;
        expect_words(0, 0, bytes * ranks);
    }
}

static void validated(const void *data, uint64_t stream, long long offset, int variable)
{
    if (content_wrong(data, stream, (uint64_t)offset, (size_t)bytes_of(variable)))
        crew_fail("variable %d is not what was written", variable);
}

static void run_posix(void *data)
{
    char name[64];
    snprintf(name, sizeof name, "hacc.%d.dat", crew.rank);
    int flags = mode == DIRECT ? O_DIRECT | O_SYNC : 0;
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | flags, 0644);
    if (fd < 0)
        crew_fail("open %s: %s%s", name, strerror(errno), mode == DIRECT ? " (does this file system know O_DIRECT?)" : "");
    double start = crew_now();
    long long offset = 0;
    for (int v = 0; v < VARIABLES; offset += bytes_of(v++)) {
        content_fill(data, (uint64_t)crew.rank, (uint64_t)offset, (size_t)bytes_of(v));
        posix_write(fd, name, data, (size_t)bytes_of(v));
    }
    if (mode == POSIX)
        posix_fsync(fd, name);
    crew_report("wrote", start, crew_now(), offset);
    posix_close(fd, name);
    if (!validate)
        return;
    fd = posix_open(name, O_RDONLY | flags);
    offset = 0;
    for (int v = 0; v < VARIABLES; offset += bytes_of(v++)) {
        posix_read(fd, name, data, (size_t)bytes_of(v));
        validated(data, (uint64_t)crew.rank, offset, v);
    }
    posix_close(fd, name);
}

#ifndef WITHOUT_MPI
static void run_mpiio(void *data)
{
    const char *name = "hacc.dat";
    MPI_File file = mpiio_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL);
    double start = crew_now();
    long long first = bytes_of_rank() * crew.rank, offset = first;
    for (int v = 0; v < VARIABLES; offset += bytes_of(v++)) {
        content_fill(data, 0, (uint64_t)offset, (size_t)bytes_of(v));
        mpiio_put(mode == COLLECTIVE ? MPI_File_write_at_all : MPI_File_write_at, file, name, offset, data,
                  (int)bytes_of(v), MPI_BYTE);
    }
    crew_report("wrote", start, crew_now(), bytes_of_rank());
    mpiio_close(&file, name);
    if (!validate)
        return;
    file = mpiio_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL);
    offset = first;
    for (int v = 0; v < VARIABLES; offset += bytes_of(v++)) {
        mpiio_get(mode == COLLECTIVE ? MPI_File_read_at_all : MPI_File_read_at, file, name, offset, data,
                  (int)bytes_of(v), MPI_BYTE);
        validated(data, 0, offset, v);
    }
    mpiio_close(&file, name);
}
#endif

int main(int argc, char **argv)
{
    knob_read("hacc-checkpoint", knobs, argc, argv);
#ifdef WITHOUT_MPI
    if (mode == INDEPENDENT || mode == COLLECTIVE)
        knob_refuse("--mode is posix or direct without MPI");
#endif
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    void *data = crew_memory((size_t)(particles * 8 + SECTOR));
    if (mode == POSIX || mode == DIRECT) run_posix(data);
#ifndef WITHOUT_MPI
    else run_mpiio(data);
#endif
    free(data);
    return crew_end();
}
