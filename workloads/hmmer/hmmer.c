/* hmmer: every rank scans the whole sequence file through stdio, a few bytes at a time (see README.md). */
#include "content.h"
#include "crew.h"
#include "expect.h"

enum { TINY, BLOCK };
enum { TAG = 16, BLOCK_BYTES = 1 << 20 };

static long long sequences = 2000, lines = 20, width = 80, tiny = 1, mode = TINY;

static const struct knob knobs[] = {
    {"sequences", KNOB_COUNT, &sequences, "alignments in the file", 1, 1 << 26, NULL},
    {"lines", KNOB_COUNT, &lines, "lines of an alignment", 1, 1 << 20, NULL},
    {"width", KNOB_BYTES, &width, "bytes of a line", 18, 4096, NULL},
    {"tiny", KNOB_BYTES, &tiny, "bytes of one tiny read: 1, 2, 4, 8 or 16", 1, TAG, NULL},
    {"mode", KNOB_CHOICE, &mode, "tiny reads, or 1 MiB blocks taken apart in memory", 0, 0, "tiny|block"},
    {0},
};

/* Lines of the alignments that fall to `rank`: every ranks-th alignment. */
static long long share(long long rank, long long ranks)
{
    return (sequences - rank + ranks - 1) / ranks * lines;
}

static void expect(long long ranks)
{
    long long all = sequences * lines, size = all * width;
    for (long long rank = 0; rank < ranks; rank++) {
        long long mine = rank < sequences ? share(rank, ranks) : 0;
        expect_calls(rank, "stdio", "fopen", 2 + (rank == 0));
        expect_data(rank, "stdio", "fwrite", (rank == 0) * all, (rank == 0) * size);
        if (mode == TINY) {
            expect_data(rank, "stdio", "fread", all * (TAG / tiny), all * TAG);
            expect_data(rank, "stdio", "fgets", all, all * (width - TAG));
        } else {
            expect_data(rank, "stdio", "fread", (size + BLOCK_BYTES - 1) / BLOCK_BYTES, size);
        }
        expect_data(rank, "stdio", "fprintf", mine, mine * width);
        expect_calls(rank, "stdio", "fclose", 2 + (rank == 0));
        expect_file("stdio", mine * width, "Pfam-A.hmm.%lld", rank)->written = mine * width;
        expect_lines((uint64_t)(1 + rank), mine, width);
    }
    struct expect_file *seed = expect_file("stdio", size, "Pfam-A.seed");
    seed->written = size;
    seed->read = ranks * size;
    expect_lines(0, all, width);
}

static FILE *opened(const char *name, const char *how)
{
    FILE *file = fopen(name, how);
    if (!file)
        crew_fail("fopen %s: %s", name, strerror(errno));
    return file;
}

static void closed(FILE *file, const char *name)
{
    if (fclose(file))
        crew_fail("fclose %s: %s", name, strerror(errno));
}

static void create(char *line)
{
    FILE *file = opened("Pfam-A.seed", "w");
    for (long long i = 0; i < sequences * lines; i++) {
        content_line(line, 0, (uint64_t)i, (size_t)width);
        fwrite(line, 1, (size_t)width, file);
    }
    closed(file, "Pfam-A.seed");
}

/* A tag byte by byte, then the rest of the line. */
static void next_tiny(FILE *file, char *line)
{
    for (long long at = 0; at < TAG; at += tiny)
        if (fread(line + at, 1, (size_t)tiny, file) != (size_t)tiny)
            crew_fail("Pfam-A.seed ends early");
    if (!fgets(line + TAG, (int)width - TAG + 1, file))
        crew_fail("Pfam-A.seed ends early");
}

/* The next line out of a block; a line may lie across two. */
static void next_block(FILE *file, char *line)
{
    static char block[BLOCK_BYTES];
    static size_t at, end;
    for (long long got = 0; got < width;) {
        if (at == end) {
            end = fread(block, 1, BLOCK_BYTES, file);
            at = 0;
            if (end == 0)
                crew_fail("Pfam-A.seed ends early");
        }
        size_t part = end - at < (size_t)(width - got) ? end - at : (size_t)(width - got);
        memcpy(line + got, block + at, part);
        at += part, got += (long long)part;
    }
    line[width] = 0;
}

static void scan(char *line, char *want)
{
    char name[64];
    snprintf(name, sizeof name, "Pfam-A.hmm.%d", crew.rank);
    FILE *in = opened("Pfam-A.seed", "r"), *out = opened(name, "w");
    double start = crew_now();
    for (long long i = 0, made = 0; i < sequences * lines; i++) {
        if (mode == TINY) next_tiny(in, line);
        else next_block(in, line);
        content_line(want, 0, (uint64_t)i, (size_t)width);
        if (strcmp(line, want))
            crew_fail("line %lld is not what was written", i);
        if (i / lines % crew.ranks != crew.rank)
            continue;
        content_line(line, (uint64_t)(1 + crew.rank), (uint64_t)made++, (size_t)width);
        fprintf(out, "%s", line);
    }
    double end = crew_now();
    long long calls = mode == TINY ? sequences * lines * (TAG / tiny + 1) : 0;
    crew_report("scanned", start, end, sequences * lines * width);
    if (crew.rank == 0 && calls)
        fprintf(stderr, "hmmer: %.0f reads a second on each of %d ranks\n", (double)calls / (end - start), crew.ranks);
    closed(in, "Pfam-A.seed");
    closed(out, name);
}

int main(int argc, char **argv)
{
    knob_read("hmmer", knobs, argc, argv);
    if (TAG % tiny)
        knob_refuse("--tiny is 1, 2, 4, 8 or 16, and not %lld", tiny);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    char *line = crew_memory((size_t)width + 1), *want = crew_memory((size_t)width + 1);
    if (crew.rank == 0)
        create(line);
    crew_barrier();
    scan(line, want);
    free(line);
    free(want);
    return crew_end();
}
