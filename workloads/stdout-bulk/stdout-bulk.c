/* stdout-bulk: results in bulk through standard output, which the launcher has redirected to a file
 * (see README.md). */
#include "content.h"
#include "expect.h"
#include "posix.h"

enum { PRINTF, FWRITE, WRITE };

static long long lines = 100000, width = 80, call = PRINTF, buffer = 4096;

static const struct knob knobs[] = {
    {"lines", KNOB_COUNT, &lines, "lines each rank writes", 1, 1LL << 32, NULL},
    {"width", KNOB_BYTES, &width, "bytes of a line", 18, 1 << 20, NULL},
    {"call", KNOB_CHOICE, &call, "the function that writes a line", 0, 0, "printf|fwrite|write"},
    {"buffer", KNOB_BYTES, &buffer, "stdio's buffer; 0: every call reaches the file", 0, 1 << 30, NULL},
    {0},
};

static void expect(long long ranks)
{
    for (long long rank = 0; rank < ranks; rank++) {
        if (call == WRITE) expect_data(rank, "posix", "write", lines, lines * width);
        else expect_data(rank, "stdio", call == PRINTF ? "printf" : "fwrite", lines, lines * width);
        struct expect_file *file = expect_file(call == WRITE ? "posix" : "stdio", lines * width, "stdout.%lld", rank);
        file->written = lines * width;
        expect_lines((uint64_t)rank, lines, width);
    }
}

int main(int argc, char **argv)
{
    knob_read("stdout-bulk", knobs, argc, argv);
    if (expect_asked()) {
        expect(knob_line.ranks);
        return expect_print();
    }
    crew_begin(argc, argv, 0);
    char *line = crew_memory((size_t)width + 1);
    char *space = crew_memory((size_t)buffer);
    setvbuf(stdout, buffer ? space : NULL, buffer ? _IOFBF : _IONBF, (size_t)buffer);
    double start = crew_now();
    for (long long i = 0; i < lines; i++) {
        content_line(line, (uint64_t)crew.rank, (uint64_t)i, (size_t)width);
        if (call == PRINTF) printf("%s", line);
        else if (call == FWRITE) fwrite(line, 1, (size_t)width, stdout);
        else posix_write(1, "standard output", line, (size_t)width);
    }
    if (ferror(stdout))
        crew_fail("standard output: %s", strerror(errno));
    crew_report("printed", start, crew_now(), lines * width);
    return crew_end(); /* what is still in the buffer goes out at exit */
}
