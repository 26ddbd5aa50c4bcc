/* Wide characters: bytes are what the stream's encoding makes of them, found by the position. */
#include "expect.h"
#include <locale.h>
#include <wchar.h>

int main(void) {
    wchar_t line[64];
    setlocale(LC_ALL, "C.UTF-8");
    FILE *stream = fopen("wide.txt", "w+");
    must(stream);
    must(fputwc(L'x', stream) == L'x');
    must(fputws(L"gr\u00fc\u00df\n", stream) >= 0);
    must(fwprintf(stream, L"%d %ls\n", 42, L"\u20ac") == 5);
    must(fclose(stream) == 0);
    stream = fopen("wide.txt", "r");
    must(stream);
    must(fgetwc(stream) == L'x');
    must(fgetws(line, 64, stream) == line);
    int number;
    must(fwscanf(stream, L"%d", &number) == 1 && number == 42);
    must(fclose(stream) == 0);
    struct stat facts;
    must(stat("wide.txt", &facts) == 0);
    printf("%lld bytes\n", (long long)facts.st_size);
    expect_stdio("wide.txt", 2, 3, 15, 3, 10);
    expect("wide.txt", "POSIX_STATS", 1);
    return 0;
}
