/* --expect: the calls and bytes to come, as JSON, from the knobs alone.
 *
 * A program describes here what it will do, by formula and apart from the code that does it: calls
 * of each rank at the layer the program itself uses, and the files that will be there. For a layer
 * beneath (POSIX under MPI-IO, everything under HDF5) the calls are the library's own business; what is
 * promised there stands with the file: the bytes that reach it. */
#ifndef EXPECT_H
#define EXPECT_H

#include "knob.h"
#include <stdint.h>

struct expect_call {
    long long rank;
    const char *layer, *function;
    long long calls, bytes;
};

struct expect_extent {
    size_t file;
    char *dataset; /* an HDF5 data set or netCDF variable, or NULL: the file itself */
    uint64_t stream;
    long long offset, length, line_width; /* line_width 0: words, otherwise lines of text */
};

struct expect_file {
    char *name;
    const char *layer;
    long long size;                          /* -1: the library decides */
    long long written, written_least, read;  /* bytes that cross POSIX; -1: not promised */
};

static struct {
    struct expect_call *calls;
    struct expect_file *files;
    struct expect_extent *extents;
    size_t call_count, file_count, extent_count;
} expect_all;

static void *expect_room(void *row, size_t count, size_t size)
{
    /* doubled at each power of two, so that it is seldom */
    if (count & (count - 1))
        return row;
    void *more = realloc(row, (count ? 2 * count : 1) * size);
    if (!more) {
        fprintf(stderr, "%s: no memory for --expect\n", knob_line.program);
        exit(1);
    }
    return more;
}

/* `rank` will make `calls` calls of `function`, moving `bytes` bytes in all. */
static void expect_data(long long rank, const char *layer, const char *function, long long calls, long long bytes)
{
    if (calls == 0)
        return;
    for (size_t i = expect_all.call_count; i-- > 0;) { /* the latest is the likeliest */
        struct expect_call *call = &expect_all.calls[i];
        if (call->rank == rank && !strcmp(call->layer, layer) && !strcmp(call->function, function)) {
            call->calls += calls, call->bytes += bytes;
            return;
        }
    }
    expect_all.calls = expect_room(expect_all.calls, expect_all.call_count, sizeof *expect_all.calls);
    expect_all.calls[expect_all.call_count++] = (struct expect_call){rank, layer, function, calls, bytes};
}

static void expect_calls(long long rank, const char *layer, const char *function, long long calls)
{
    expect_data(rank, layer, function, calls, 0);
}

/* A file that the run leaves behind; `layer` is the one through which the program itself works on it.
 * The returned place is valid until the next file. */
__attribute__((format(printf, 3, 4))) static struct expect_file *expect_file(const char *layer, long long size, const char *form, ...)
{
    expect_all.files = expect_room(expect_all.files, expect_all.file_count, sizeof *expect_all.files);
    struct expect_file *file = &expect_all.files[expect_all.file_count++];
    *file = (struct expect_file){NULL, layer, size, -1, -1, -1};
    va_list args;
    va_start(args, form);
    if (vasprintf(&file->name, form, args) < 0)
        exit(1);
    va_end(args);
    return file;
}

static struct expect_extent *expect_extent(uint64_t stream, long long offset, long long length)
{
    expect_all.extents = expect_room(expect_all.extents, expect_all.extent_count, sizeof *expect_all.extents);
    struct expect_extent *extent = &expect_all.extents[expect_all.extent_count++];
    *extent = (struct expect_extent){expect_all.file_count - 1, NULL, stream, offset, length, 0};
    return extent;
}

/* In the latest file, `length` bytes at `offset` are those of `stream` at the same offset. */
static void expect_words(uint64_t stream, long long offset, long long length)
{
    if (length)
        expect_extent(stream, offset, length);
}

/* In the latest file stand `lines` lines of `width` bytes of a text stream, from the beginning. */
static void expect_lines(uint64_t stream, long long lines, long long width)
{
    if (lines)
        expect_extent(stream, 0, lines * width)->line_width = width;
}

/* In the latest file, data set `form` holds `length` bytes of `stream`, in its own order. */
__attribute__((format(printf, 3, 4))) static void expect_dataset(uint64_t stream, long long length, const char *form, ...)
{
    struct expect_extent *extent = expect_extent(stream, 0, length);
    va_list args;
    va_start(args, form);
    if (vasprintf(&extent->dataset, form, args) < 0)
        exit(1);
    va_end(args);
}

static int expect_same(const struct expect_call *a, const struct expect_call *b)
{
    return !strcmp(a->layer, b->layer) && !strcmp(a->function, b->function);
}

/* The calls of `rank`; -1: the sums over all ranks. */
static void expect_print_calls(long long rank)
{
    const char *layers[] = {"posix", "stdio", "mpiio", "hdf5", "pnetcdf"};
    const char *between_layers = "";
    printf("{");
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++) {
        const char *between = "";
        for (size_t i = 0; i < expect_all.call_count; i++) {
            struct expect_call sum = expect_all.calls[i];
            int mine = rank < 0 || sum.rank == rank, first = 1;
            if (!mine || strcmp(sum.layer, layers[l]))
                continue;
            for (size_t j = 0; rank < 0 && j < expect_all.call_count; j++) {
                if (j == i || !expect_same(&sum, &expect_all.calls[j]))
                    continue;
                if (j < i) first = 0;
                sum.calls += expect_all.calls[j].calls, sum.bytes += expect_all.calls[j].bytes;
            }
            if (!first)
                continue;
            if (!*between) printf("%s\"%s\": {", between_layers, layers[l]);
            printf("%s\"%s\": {\"calls\": %lld, \"bytes\": %lld}", between, sum.function, sum.calls, sum.bytes);
            between = ", ", between_layers = ", ";
        }
        if (*between) printf("}");
    }
    printf("}");
}

static void expect_print_file(size_t index)
{
    const struct expect_file *file = &expect_all.files[index];
    const char *between = "";
    printf("{\"name\": \"%s\", \"layer\": \"%s\"", file->name, file->layer);
    if (file->size >= 0) printf(", \"size\": %lld", file->size);
    if (file->written >= 0) printf(", \"posix_bytes_written\": %lld", file->written);
    if (file->written_least >= 0) printf(", \"posix_bytes_written_least\": %lld", file->written_least);
    if (file->read >= 0) printf(", \"posix_bytes_read\": %lld", file->read);
    printf(", \"content\": [");
    for (size_t i = 0; i < expect_all.extent_count; i++) {
        const struct expect_extent *extent = &expect_all.extents[i];
        if (extent->file != index)
            continue;
        printf("%s{\"stream\": %llu, \"offset\": %lld, \"length\": %lld", between, (unsigned long long)extent->stream,
               extent->offset, extent->length);
        if (extent->line_width) printf(", \"line_width\": %lld", extent->line_width);
        if (extent->dataset) printf(", \"dataset\": \"%s\"", extent->dataset);
        printf("}");
        between = ", ";
    }
    printf("]}");
}

static int expect_print(void)
{
    printf("{\"workload\": \"%s\", \"ranks\": %lld,\n \"total\": ", knob_line.program, knob_line.ranks);
    expect_print_calls(-1);
    printf(",\n \"per_rank\": [");
    for (long long rank = 0; rank < knob_line.ranks; rank++) {
        printf("%s\n  ", rank ? "," : "");
        expect_print_calls(rank);
    }
    printf("],\n \"files\": [");
    for (size_t i = 0; i < expect_all.file_count; i++) {
        printf("%s\n  ", i ? "," : "");
        expect_print_file(i);
    }
    printf("]}\n");
    return 0;
}

/* Is this a run that only says what it would do? A refused command line says so first. */
static int expect_asked(void)
{
    if (!knob_line.expect || knob_line.help)
        return 0;
    if (knob_line.refusal[0]) {
        fprintf(stderr, "%s: %s\n", knob_line.program, knob_line.refusal);
        exit(KNOB_USAGE);
    }
    return 1;
}

#endif
