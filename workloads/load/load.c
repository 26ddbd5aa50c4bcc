/* load: files x threads x sizes, as fast as it goes (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"
#include <pthread.h>

enum { PWRITE, WRITE, FWRITE };
enum { CHECKED, ANY };
enum { THREADS_MOST = 256 };

static long long files = 4, threads = 2, size = 16 << 20, block = 64 << 10, call = PWRITE, readback = 1, content = CHECKED;

static const struct knob knobs[] = {
    {"files", KNOB_COUNT, &files, "files of each rank", 1, 100000, NULL},
    {"threads", KNOB_COUNT, &threads, "threads of each rank", 1, THREADS_MOST, NULL},
    {"size", KNOB_BYTES, &size, "bytes each thread writes to each file", 1, 1LL << 36, NULL},
    {"block", KNOB_BYTES, &block, "bytes of one call", 1, 1 << 30, NULL},
    {"call", KNOB_CHOICE, &call, "pwrite on shared descriptors, or write, fwrite on files of each thread", 0, 0, "pwrite|write|fwrite"},
    {"content", KNOB_CHOICE, &content, "every byte known and checked, or whatever is in memory, to measure calls alone", 0, 0, "checked|any"},
    {"read", KNOB_CHOICE, &readback, "read everything back", 0, 0, "no|yes"},
    {0},
};

static void expect(long long ranks)
{
    const char *layer = call == FWRITE ? "stdio" : "posix";
    const char *names[][4] = {{"open", "pwrite", "pread", "close"}, {"open", "write", "read", "close"}, {"fopen", "fwrite", "fread", "fclose"}};
    long long opened = call == PWRITE ? files : files * threads * (1 + readback);
    long long calls = files * threads * (size / block), bytes = files * threads * size;
    for (long long rank = 0; rank < ranks; rank++) {
        expect_calls(rank, layer, names[call][0], opened);
        expect_data(rank, layer, names[call][1], calls, bytes);
        expect_data(rank, layer, names[call][2], readback * calls, readback * bytes);
        expect_calls(rank, layer, names[call][3], opened);
        for (long long file = 0; file < files; file++) {
            if (call == PWRITE) {
                expect_file(layer, threads * size, "load.%lld.%lld", rank, file);
                expect_words((uint64_t)file, 0, content == CHECKED ? threads * size : 0);
            }
            for (long long thread = 0; call != PWRITE && thread < threads; thread++) {
                struct expect_file *made = expect_file(layer, size, "load.%lld.%lld.%lld", rank, file, thread);
                made->written = size;
                made->read = readback * size;
                expect_words((uint64_t)file, 0, content == CHECKED ? size : 0);
            }
        }
    }
}

static void make(char *data, long long file, long long at)
{
    if (content == CHECKED)
        content_fill(data, (uint64_t)file, (uint64_t)at, (size_t)block);
}

static void check(const char *data, long long file, long long at)
{
    if (content == CHECKED && content_wrong(data, (uint64_t)file, (uint64_t)at, (size_t)block))
        crew_fail("file %lld differs at %lld", file, at);
}

static int *shared; /* descriptors of all files, for --call pwrite */

/* A shared descriptor for each file, blocks at the thread's own offsets. */
static void by_offset(long long thread, char *data)
{
    for (int reading = 0; reading <= readback; reading++) {
        for (long long file = 0; file < files; file++) {
            for (long long at = thread * size; at < (thread + 1) * size; at += block) {
                if (reading) {
                    posix_pread(shared[file], "load", data, (size_t)block, at);
                    check(data, file, at);
                } else {
                    make(data, file, at);
                    posix_pwrite(shared[file], "load", data, (size_t)block, at);
                }
            }
        }
    }
}

static void one_file(const char *name, long long file, int reading, char *data)
{
    int fd = -1;
    FILE *stdio = NULL;
    if (call == WRITE) fd = posix_open(name, reading ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC);
    else stdio = fopen(name, reading ? "r" : "w");
    if (call == FWRITE && !stdio)
        crew_fail("fopen %s: %s", name, strerror(errno));
    for (long long at = 0; at < size; at += block) {
        size_t done = (size_t)block;
        if (!reading) make(data, file, at);
        if (call == WRITE && reading) posix_read(fd, name, data, (size_t)block);
        else if (call == WRITE) posix_write(fd, name, data, (size_t)block);
        else if (reading) done = fread(data, 1, (size_t)block, stdio);
        else done = fwrite(data, 1, (size_t)block, stdio);
        if (done != (size_t)block)
            crew_fail("%s: %zu of %lld bytes", name, done, block);
        if (reading) check(data, file, at);
    }
    if (call == WRITE) posix_close(fd, name);
    else if (fclose(stdio)) crew_fail("fclose %s: %s", name, strerror(errno));
}

/* Files of this thread alone, one after the other. */
static void in_turn(long long thread, char *data)
{
    for (int reading = 0; reading <= readback; reading++) {
        for (long long file = 0; file < files; file++) {
            char name[96];
            snprintf(name, sizeof name, "load.%d.%lld.%lld", crew.rank, file, thread);
            one_file(name, file, reading, data);
        }
    }
}

static void *work(void *number)
{
    char *data = crew_memory((size_t)block);
    memset(data, 0, (size_t)block);
    if (call == PWRITE) by_offset((long long)(intptr_t)number, data);
    else in_turn((long long)(intptr_t)number, data);
    free(data);
    return NULL;
}

static void open_shared(void)
{
    shared = crew_memory((size_t)files * sizeof *shared);
    for (long long file = 0; file < files; file++) {
        char name[64];
        snprintf(name, sizeof name, "load.%d.%lld", crew.rank, file);
        shared[file] = posix_open(name, O_RDWR | O_CREAT | O_TRUNC);
    }
}

int main(int argc, char **argv)
{
    knob_read("load", knobs, argc, argv);
    if (size % block)
        knob_refuse("--block must divide --size: %lld is not a multiple of %lld", size, block);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    if (call == PWRITE)
        open_shared();
    double start = crew_now();
    pthread_t crowd[THREADS_MOST];
    for (intptr_t thread = 0; thread < threads; thread++)
        if (pthread_create(&crowd[thread], NULL, work, (void *)thread))
            crew_fail("no thread %ld", (long)thread);
    for (long long thread = 0; thread < threads; thread++)
        pthread_join(crowd[thread], NULL);
    crew_report("moved", start, crew_now(), files * threads * size * (1 + readback));
    for (long long file = 0; call == PWRITE && file < files; file++)
        posix_close(shared[file], "load");
    free(shared);
    return crew_end();
}
