/* scanf in its spellings: bytes are the way the position went. */
#include "expect.h"
#include <stdarg.h>

static int through_v(FILE *stream, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int fields = vfscanf(stream, format, list);
    va_end(list);
    return fields;
}

int main(void) {
    FILE *stream = fopen("numbers.txt", "w");
    must(stream);
    must(fputs("12 34.5 word\n99 end", stream) >= 0);
    must(fclose(stream) == 0);
    stream = fopen("numbers.txt", "r");
    must(stream);
    int first, second;
    float part;
    char word[16], end[16];
    must(fscanf(stream, "%d %f", &first, &part) == 2);
    must(fscanf(stream, "%15s", word) == 1);
    must(through_v(stream, "%d %15s", &second, end) == 2);
    must(fscanf(stream, "%d", &second) == EOF);
    must(fclose(stream) == 0);
    expect_stdio("numbers.txt", 2, 1, 19, 3, 19);
    printf("%d %.1f %s %d %s\n", first, part, word, second, end);
    return 0;
}
