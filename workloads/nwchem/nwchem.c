/* nwchem: a runtime database that ranks read and write over each other, and a scratch file of each
 * rank (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"

enum { CONFLICTING, ONCE };
enum { HEADER = 512, RECORDS = 1 << 20 /* streams of records begin here, those of headers at 0 */ };

static long long steps = 10, record = 4096, scratch = 64 << 10, database = CONFLICTING;

static const struct knob knobs[] = {
    {"steps", KNOB_COUNT, &steps, "iterations of the computation", 1, 1 << 18, NULL},
    {"record", KNOB_BYTES, &record, "bytes of a rank's record in the database", 8, 1 << 30, NULL},
    {"scratch", KNOB_BYTES, &scratch, "bytes a step adds to a rank's scratch file; 0: none", 0, 1 << 30, NULL},
    {"database", KNOB_CHOICE, &database, "kept in the file at every step, or written once", 0, 0, "conflicting|once"},
    {0},
};

static void expect_database(long long rank, long long ranks)
{
    if (database == ONCE) {
        expect_calls(rank, "posix", "open", rank == 0);
        expect_data(rank, "posix", "write", rank == 0, HEADER + ranks * record);
        expect_calls(rank, "posix", "close", rank == 0);
        return;
    }
    /* its own record and its neighbour's, which nobody has written when rank 0 begins */
    long long looks = ranks == 1 ? steps : 2 * steps - (rank == 0);
    expect_calls(rank, "posix", "open", 1);
    expect_data(rank, "posix", "pwrite", 2 * steps + (rank == 0), steps * (HEADER + record) + (rank == 0) * HEADER);
    expect_data(rank, "posix", "pread", steps + looks, steps * HEADER + looks * record);
    expect_calls(rank, "posix", "close", 1);
}

static void expect(long long ranks)
{
    for (long long rank = 0; rank < ranks; rank++) {
        expect_database(rank, ranks);
        if (scratch == 0)
            continue;
        expect_calls(rank, "posix", "open", 1);
        expect_data(rank, "posix", "write", steps, steps * scratch);
        expect_calls(rank, "posix", "lseek", 1);
        expect_data(rank, "posix", "read", steps, steps * scratch);
        expect_calls(rank, "posix", "close", 1);
        expect_file("posix", steps * scratch, "h2o_scf.junk.%lld", rank);
        expect_words((uint64_t)rank, 0, steps * scratch);
    }
    expect_file("posix", HEADER + ranks * record, "h2o_scf.db");
    expect_words((uint64_t)(steps * ranks), 0, HEADER);
    expect_words((uint64_t)(RECORDS + steps - 1), HEADER, ranks * record);
}

static const char *name = "h2o_scf.db";

static void put(int fd, void *data, uint64_t stream, long long offset, long long length)
{
    content_fill(data, stream, (uint64_t)offset, (size_t)length);
    posix_pwrite(fd, name, data, (size_t)length, offset);
}

static void look(int fd, void *data, uint64_t stream, long long offset, long long length)
{
    posix_pread(fd, name, data, (size_t)length, offset);
    if (content_wrong(data, stream, (uint64_t)offset, (size_t)length))
        crew_fail("%s: bytes at %lld are not what was written last", name, offset);
}

static long long place(int rank)
{
    return HEADER + rank * record;
}

/* One rank's turn: each access below conflicts with an earlier one. */
static void turn(int fd, void *data, long long step)
{
    long long version = step * crew.ranks + crew.rank;
    look(fd, data, (uint64_t)version, 0, HEADER);                                       /* RAW: the rank before wrote it */
    put(fd, data, (uint64_t)(RECORDS + step), place(crew.rank), record);                /* WAW: our record of the last step */
    look(fd, data, (uint64_t)(RECORDS + step), place(crew.rank), record);               /* RAW: within one rank */
    put(fd, data, (uint64_t)(version + 1), 0, HEADER);                                  /* WAR within one, WAW between ranks */
    int neighbour = (crew.rank + crew.ranks - 1) % crew.ranks;
    int earlier = neighbour > crew.rank;                                                /* it wrote in the last step */
    if (crew.ranks > 1 && step - earlier >= 0)
        look(fd, data, (uint64_t)(RECORDS + step - earlier), place(neighbour), record); /* RAW between ranks, WAR later */
}

static void run_conflicting(void *data, int junk, const char *junk_name)
{
    int fd = -1;
    if (crew.rank == 0) {
        fd = posix_open(name, O_RDWR | O_CREAT | O_TRUNC);
        put(fd, data, 0, 0, HEADER);
    }
    crew_barrier();
    if (crew.rank != 0)
        fd = posix_open(name, O_RDWR);
    for (long long step = 0; step < steps; step++) {
        for (int rank = 0; rank < crew.ranks; rank++) {
            if (rank == crew.rank)
                turn(fd, data, step);
            crew_barrier(); /* the database is handed on */
        }
        if (scratch) {
            content_fill(data, (uint64_t)crew.rank, (uint64_t)(step * scratch), (size_t)scratch);
            posix_write(junk, junk_name, data, (size_t)scratch);
        }
    }
    posix_close(fd, name);
}

static void run_once(void *data, int junk, const char *junk_name)
{
    for (long long step = 0; step < steps && scratch; step++) {
        content_fill(data, (uint64_t)crew.rank, (uint64_t)(step * scratch), (size_t)scratch);
        posix_write(junk, junk_name, data, (size_t)scratch);
    }
    if (crew.rank != 0)
        return;
    size_t size = (size_t)(HEADER + crew.ranks * record);
    char *all = crew_memory(size);
    content_fill(all, (uint64_t)(steps * crew.ranks), 0, HEADER);
    content_fill(all + HEADER, (uint64_t)(RECORDS + steps - 1), HEADER, size - HEADER);
    int fd = posix_open(name, O_WRONLY | O_CREAT | O_TRUNC);
    posix_write(fd, name, all, size);
    posix_close(fd, name);
    free(all);
}

static void read_scratch(void *data, int junk, const char *junk_name)
{
    if (lseek(junk, 0, SEEK_SET) != 0)
        crew_fail("lseek %s: %s", junk_name, strerror(errno));
    for (long long step = 0; step < steps; step++) {
        posix_read(junk, junk_name, data, (size_t)scratch);
        if (content_wrong(data, (uint64_t)crew.rank, (uint64_t)(step * scratch), (size_t)scratch))
            crew_fail("%s: step %lld is not what was written", junk_name, step);
    }
    posix_close(junk, junk_name);
}

int main(int argc, char **argv)
{
    knob_read("nwchem", knobs, argc, argv);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    long long largest = record > scratch ? record : scratch;
    void *data = crew_memory((size_t)(largest > HEADER ? largest : HEADER));
    char junk_name[64];
    snprintf(junk_name, sizeof junk_name, "h2o_scf.junk.%d", crew.rank);
    int junk = scratch ? posix_open(junk_name, O_RDWR | O_CREAT | O_TRUNC) : -1;
    double start = crew_now();
    if (database == ONCE) run_once(data, junk, junk_name);
    else run_conflicting(data, junk, junk_name);
    if (scratch)
        read_scratch(data, junk, junk_name);
    crew_report("scratch of", start, crew_now(), steps * scratch);
    free(data);
    return crew_end();
}
