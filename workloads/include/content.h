/* What stands in every file: a byte is a function of its stream and its offset, nothing else.
 *
 * So a file's content is known without running anything, whoever wrote it and in whatever order, and
 * a reader can check it. The word at byte 8*i of stream s is a double between 1 and 2, which passes
 * through MPI_DOUBLE, H5T_NATIVE_DOUBLE and netCDF unchanged. workloads/tests/matrix/content.rs
 * computes the same. */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t content_word(uint64_t stream, uint64_t index)
{
    uint64_t x = (stream << 40) ^ index;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return 0x3ff0000000000000ULL | (x >> 12);
}

/* Fills `length` bytes with what stands at `offset` of `stream`. */
static void content_fill(void *into, uint64_t stream, uint64_t offset, size_t length)
{
    unsigned char *out = into;
    while (length) {
        uint64_t word = content_word(stream, offset / 8);
        size_t skip = offset % 8, part = 8 - skip < length ? 8 - skip : length;
        memcpy(out, (unsigned char *)&word + skip, part);
        out += part, offset += part, length -= part;
    }
}

/* Bytes of `from` that are not what `stream` has at `offset`. */
static size_t content_wrong(const void *from, uint64_t stream, uint64_t offset, size_t length)
{
    const unsigned char *in = from;
    size_t wrong = 0;
    while (length) {
        uint64_t word = content_word(stream, offset / 8);
        size_t skip = offset % 8, part = 8 - skip < length ? 8 - skip : length;
        for (size_t i = 0; i < part; i++)
            wrong += in[i] != ((unsigned char *)&word)[skip + i];
        in += part, offset += part, length -= part;
    }
    return wrong;
}

/* Line `index` of a text stream: its word in 16 hex digits, dots up to `width`-1, a newline.
 * `line` has room for width + 1 bytes; width is at least 18. */
static void content_line(char *line, uint64_t stream, uint64_t index, size_t width)
{
    snprintf(line, 17, "%016llx", (unsigned long long)content_word(stream, index));
    memset(line + 16, '.', width - 17);
    line[width - 1] = '\n';
    line[width] = 0;
}

#endif
