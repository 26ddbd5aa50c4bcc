/* Every stdio call that moves bytes, in and out, with its _unlocked form: each counts once, with the
 * bytes it moved, whatever the buffer does below. */
#include "expect.h"

static FILE *stream;
static long writes, written, reads, got;

static void wrote(long bytes) {
    must(bytes >= 0);
    writes++;
    written += bytes;
}

static void took(long bytes) {
    must(bytes >= 0);
    reads++;
    got += bytes;
}

static void put_all(void) {
    char bytes[10] = "123456789";
    wrote((long)fwrite(bytes, 1, 10, stream));
    wrote(4 * (long)fwrite_unlocked(bytes, 4, 2, stream));
    wrote(fputc('a', stream) == 'a');
    wrote(fputc_unlocked('b', stream) == 'b');
    wrote((putc)('c', stream) == 'c');
    wrote((putc_unlocked)('d', stream) == 'd');
    wrote(fputs("hello\n", stream) >= 0 ? 6 : -1);
    wrote(fputs_unlocked("world\n", stream) >= 0 ? 6 : -1);
    wrote(putw(0x41424344, stream) == 0 ? (long)sizeof(int) : -1);
    wrote(fprintf(stream, "%d %s\n", 42, "text"));
    must(fwrite(bytes, 0, 10, stream) == 0);
    must(fflush(stream) == 0 && fflush_unlocked(stream) == 0);
}

static void get_all(void) {
    char bytes[64], *line = NULL;
    size_t room = 0;
    took((long)fread(bytes, 1, 10, stream));
    took(4 * (long)fread_unlocked(bytes, 4, 2, stream));
    took(fgetc(stream) == 'a');
    took(fgetc_unlocked(stream) == 'b');
    took((getc)(stream) == 'c');
    took((getc_unlocked)(stream) == 'd');
    took(fgets(bytes, sizeof bytes, stream) ? (long)strlen(bytes) : -1);
    took(getline(&line, &room, stream));
    took(getw(stream) == 0x41424344 ? (long)sizeof(int) : -1);
    took(getdelim(&line, &room, ' ', stream));
    took(fgets_unlocked(bytes, sizeof bytes, stream) ? (long)strlen(bytes) : -1);
    must(fgetc(stream) == EOF && fgets(bytes, sizeof bytes, stream) == NULL);
    must(fread(bytes, 1, 10, stream) == 0);
    free(line);
}

int main(void) {
    stream = fopen("family.txt", "w+");
    must(stream);
    put_all();
    must(fseek(stream, 0, SEEK_SET) == 0 && fseeko(stream, 0, SEEK_SET) == 0);
    rewind(stream);
    fpos_t start;
    must(fgetpos(stream, &start) == 0 && fsetpos(stream, &start) == 0);
    get_all();
    must(ungetc('z', stream) == 'z');
    must(fclose(stream) == 0);
#ifdef __OPTIMIZE__
    writes = reads = ANY;
#endif
    expect_stdio("family.txt", 1, writes, written, reads, got);
    expect("family.txt", "STDIO_SEEKS", 4);
    expect("family.txt", "STDIO_FLUSHES", 2);
    expect("family.txt", "STDIO_MAX_BYTE_WRITTEN", written - 1);
#ifdef __OPTIMIZE__
    /* The byte that ungetc put back hides the last one that was read inline. */
    got = 0;
#endif
    expect("family.txt", "STDIO_MAX_BYTE_READ", got - 1);
    printf("%ld out, %ld in\n", written, got);
    return 0;
}
