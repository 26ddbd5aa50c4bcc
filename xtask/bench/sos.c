/* The store of the published stack, measured as a peer: events with its three joint indices go in, one rank of a job comes out.
 *
 * Usage: sos DIRECTORY EVENTS RANKS. Prints one JSON object a line. All columns are numbers, which is kind to it: the published schema has
 * texts in half of its columns, each an object of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <sos/sos.h>

static const char *JOB_RANK_TIME[] = {"job", "rank", "t"};
static const char *JOB_TIME_RANK[] = {"job", "t", "rank"};
static const char *TIME_JOB_RANK[] = {"t", "job", "rank"};

/* In the order in which they lie in an object. */
enum { JOB, RANK, T, DURATION, OP, FUNCTION, FILE_ID, OFFSET, LENGTH, BYTES, SEQUENCE, NODE, COLUMNS };

#define NUMBER(text) {.name = text, .type = SOS_TYPE_UINT64}
#define INDEX(text, list) \
    {.name = text, .type = SOS_TYPE_JOIN, .size = 3, .join_list = list, .indexed = 1}

static struct sos_schema_template EVENTS = {
    .name = "events",
    .uuid = "2b1f7d0e-6a55-4c0e-9d53-5a1b8a3f7c11",
    .attrs = {
        NUMBER("job"), NUMBER("rank"), NUMBER("t"), NUMBER("duration"), NUMBER("op"), NUMBER("function"),
        NUMBER("file"), NUMBER("offset"), NUMBER("length"), NUMBER("bytes"), NUMBER("sequence"), NUMBER("node"),
        INDEX("job_rank_time", JOB_RANK_TIME), INDEX("job_time_rank", JOB_TIME_RANK),
        INDEX("time_job_rank", TIME_JOB_RANK), {.name = NULL},
    },
};

static void fail(const char *what) {
    fprintf(stderr, "sos: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void say(const char *name, double value) {
    printf("{\"name\":\"%s\",\"value\":%.9g}\n", name, value);
}

static uint64_t occupied;

static int add(const char *path, const struct stat *file, int kind, struct FTW *place) {
    (void)path, (void)place;
    if (kind == FTW_F)
        occupied += (uint64_t)file->st_blocks * 512;
    return 0;
}

static sos_t make(const char *path) {
    sos_t sos = sos_container_open(path, SOS_PERM_RW | SOS_PERM_CREAT, 0660);
    if (!sos)
        fail("opening the container");
    char below[4096];
    snprintf(below, sizeof below, "%s/part", path);
    sos_part_t part = sos_part_open(below, SOS_BE_MMOS | SOS_PERM_RW | SOS_PERM_CREAT, 0660, "events");
    if (!part)
        fail("making a partition");
    sos_part_put(part);
    if ((errno = sos_part_attach(sos, "part", below)))
        fail("attaching the partition");
    part = sos_part_by_name(sos, "part");
    if (!part || (errno = sos_part_state_set(part, SOS_PART_STATE_PRIMARY)))
        fail("using the partition");
    sos_part_put(part);
    return sos;
}

/* The numbers of one event: ranks take turns, a millisecond for each round. */
static void event(uint64_t *values, uint64_t number, uint64_t ranks, uint64_t jobs) {
    uint64_t each = number / (ranks * jobs), who = number % (ranks * jobs);
    values[JOB] = 1000 + who / ranks;
    values[RANK] = who % ranks;
    values[T] = 1794807600000000ull + each * 1000;
    values[DURATION] = 1000 + number * 2654435761u % 90000;
    values[OP] = number % 3;
    values[FUNCTION] = number % 5;
    values[FILE_ID] = 77 + values[RANK];
    values[OFFSET] = each * 4096;
    values[LENGTH] = values[BYTES] = 4096;
    values[SEQUENCE] = each;
    values[NODE] = values[RANK] / 16;
}

/* One rank of one job, in the order of the index that serves it; every column is read. */
static uint64_t ask(sos_schema_t schema, uint64_t job, uint64_t rank, uint64_t *sum) {
    sos_attr_t attr = sos_schema_attr_by_name(schema, "job_rank_time");
    sos_iter_t iter = sos_attr_iter_new(attr);
    SOS_KEY_SZ(key, 64);
    if (!iter || sos_key_join(key, attr, job, rank, (uint64_t)0))
        fail("asking");
    uint64_t rows = 0;
    for (int rc = sos_iter_sup(iter, key); !rc; rc = sos_iter_next(iter)) {
        sos_obj_t obj = sos_iter_obj(iter);
        const uint64_t *values = sos_obj_ptr(obj);
        int is_it = values[JOB] == job && values[RANK] == rank;
        for (int i = 0; is_it && i < COLUMNS; i++)
            *sum += values[i];
        sos_obj_put(obj);
        if (!is_it)
            break;
        rows++;
    }
    sos_iter_free(iter);
    return rows;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: sos DIRECTORY EVENTS RANKS\n");
        return 64;
    }
    const uint64_t jobs = 10, ranks = strtoull(argv[3], NULL, 10);
    const uint64_t each = strtoull(argv[2], NULL, 10) / (ranks * jobs), events = each * ranks * jobs;
    sos_t sos = make(argv[1]);
    sos_schema_t schema = sos_schema_from_template(&EVENTS);
    if (!schema || (errno = sos_schema_add(sos, schema)))
        fail("adding the schema");
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t i = 0; i < events; i++) {
        sos_obj_t obj = sos_obj_new(schema);
        if (!obj)
            fail("making an object");
        event(sos_obj_ptr(obj), i, ranks, jobs);
        if (sos_obj_index(obj))
            fail("indexing an object");
        sos_obj_put(obj);
    }
    sos_container_commit(sos, SOS_COMMIT_SYNC);
    say("sos_us_per_event", 1e6 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)events);
    if (nftw(argv[1], add, 16, FTW_PHYS))
        fail("counting bytes");
    say("sos_bytes_per_event", (double)occupied / (double)events);
    double best = 1e9;
    uint64_t rows = 0, sum = 0;
    for (int i = 0; i < 4; i++) {
        double before = seconds(CLOCK_MONOTONIC);
        rows = ask(schema, 1005, ranks > 17 ? 17 : 0, &sum);
        double took = seconds(CLOCK_MONOTONIC) - before;
        best = took < best ? took : best;
    }
    if (rows != each || !sum) {
        fprintf(stderr, "sos: %llu rows of a rank instead of %llu\n", (unsigned long long)rows, (unsigned long long)each);
        return 1;
    }
    say("sos_rank_us_per_row", 1e6 * best / (double)rows);
    sos_container_close(sos, SOS_COMMIT_ASYNC);
    return 0;
}
