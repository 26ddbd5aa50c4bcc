/* A loop of getc_unlocked and putc_unlocked: macros that touch the buffer without a call. Only
 * __uflow and __overflow are seen, once a buffer; bytes are accounted by the position. */
#include "expect.h"

int main(void) {
    FILE *stream = fopen("inline.txt", "w");
    must(stream);
    for (int i = 0; i < 10000; i++)
        putc_unlocked('a' + i % 26, stream);
    must(fclose(stream) == 0);
    long bytes = 0;
    stream = fopen("inline.txt", "r");
    must(stream);
    while (getc_unlocked(stream) != EOF)
        bytes++;
    must(fclose(stream) == 0);
    expect("inline.txt", "STDIO_OPENS", 2);
    expect("inline.txt", "STDIO_WRITES", ANY);
    expect("inline.txt", "STDIO_READS", ANY);
    expect("inline.txt", "STDIO_BYTES_WRITTEN", 10000);
    expect("inline.txt", "STDIO_BYTES_READ", 10000);
    printf("%ld bytes\n", bytes);
    return 0;
}
