/* slow-rank: all ranks wait at every step for one that writes in small pieces (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"

static long long steps = 10, block = 4 << 20, slow = 0, pieces = 64, delay = 1000;

static const struct knob knobs[] = {
    {"steps", KNOB_COUNT, &steps, "steps, each ended by a barrier", 1, 1 << 20, NULL},
    {"block", KNOB_BYTES, &block, "bytes each rank writes in a step", 1, 1 << 30, NULL},
    {"slow", KNOB_COUNT, &slow, "the slow rank, modulo the number of ranks", 0, 1 << 20, NULL},
    {"pieces", KNOB_COUNT, &pieces, "writes in which the slow rank writes its block; 1: none is slow", 1, 1 << 20, NULL},
    {"delay", KNOB_COUNT, &delay, "microseconds the slow rank computes before each piece", 0, 1000000, NULL},
    {0},
};

static void expect(long long ranks)
{
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, "posix", "open", 1);
        expect_data(rank, "posix", "pwrite", steps * (rank == slow % ranks ? pieces : 1), steps * block);
        expect_calls(rank, "posix", "close", 1);
    }
    expect_file("posix", steps * ranks * block, "slow-rank.dat");
    expect_words(0, 0, steps * ranks * block);
}

int main(int argc, char **argv)
{
    knob_read("slow-rank", knobs, argc, argv);
    if (block % pieces)
        knob_refuse("--pieces must divide --block: %lld bytes are not %lld equal pieces", block, pieces);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    const char *name = "slow-rank.dat";
    int is_slow = crew.rank == slow % crew.ranks;
    long long mine = is_slow ? pieces : 1, piece = block / mine;
    char *data = crew_memory((size_t)block);
    int fd = posix_open(name, O_WRONLY | O_CREAT);
    double start = crew_now();
    for (long long step = 0; step < steps; step++) {
        long long offset = (step * crew.ranks + crew.rank) * block;
        content_fill(data, 0, (uint64_t)offset, (size_t)block);
        for (long long i = 0; i < mine; i++) {
            if (is_slow && pieces > 1)
                crew_compute((double)delay * 1e-6);
            posix_pwrite(fd, name, data + i * piece, (size_t)piece, offset + i * piece);
        }
        crew_barrier();
    }
    crew_report("wrote", start, crew_now(), steps * block);
    posix_close(fd, name);
    free(data);
    return crew_end();
}
