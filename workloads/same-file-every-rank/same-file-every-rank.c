/* same-file-every-rank: every rank reads the same small file, piece by piece (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"

enum { EVERY, BROADCAST };

static long long size = 64 << 10, piece = 512, passes = 1, mode = EVERY;

static const struct knob knobs[] = {
    {"size", KNOB_BYTES, &size, "bytes of the file", 1, 1 << 30, NULL},
    {"piece", KNOB_BYTES, &piece, "bytes of one read", 1, 1 << 30, NULL},
    {"passes", KNOB_COUNT, &passes, "times it is opened and read", 1, 1 << 20, NULL},
    {"mode", KNOB_CHOICE, &mode, "every rank reads it, or rank 0 reads and broadcasts", 0, 0, "every|broadcast"},
    {0},
};

static void expect(long long ranks)
{
    long long reads = (size + piece - 1) / piece;
    for (long long rank = 0; rank < ranks; rank++) {
        long long mine = mode == EVERY || rank == 0 ? passes : 0;
        expect_calls(rank, "posix", "open", mine + (rank == 0));
        expect_data(rank, "posix", "write", rank == 0, (rank == 0) * size);
        expect_data(rank, "posix", "read", mine * reads, mine * size);
        expect_calls(rank, "posix", "close", mine + (rank == 0));
    }
    expect_file("posix", size, "settings.cfg");
    expect_words(0, 0, size);
}

static const char *name = "settings.cfg";

static void create(void *data)
{
    content_fill(data, 0, 0, (size_t)size);
    int fd = posix_open(name, O_WRONLY | O_CREAT | O_TRUNC);
    posix_write(fd, name, data, (size_t)size);
    posix_close(fd, name);
}

static void read_all(char *data)
{
    int fd = posix_open(name, O_RDONLY);
    for (long long at = 0; at < size; at += piece)
        posix_read(fd, name, data + at, (size_t)(at + piece < size ? piece : size - at));
    posix_close(fd, name);
}

int main(int argc, char **argv)
{
    knob_read("same-file-every-rank", knobs, argc, argv);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    char *data = crew_memory((size_t)size);
    if (crew.rank == 0)
        create(data);
    crew_barrier();
    double start = crew_now();
    for (long long pass = 0; pass < passes; pass++) {
        memset(data, 0, (size_t)size);
        if (mode == EVERY || crew.rank == 0)
            read_all(data);
#ifndef WITHOUT_MPI
        if (mode == BROADCAST)
            MPI_Bcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
#endif
        if (content_wrong(data, 0, 0, (size_t)size))
            crew_fail("%s is not what rank 0 wrote", name);
    }
    crew_report("got", start, crew_now(), passes * size);
    free(data);
    return crew_end();
}
