/* A search through a data base of sequences, as HMMER does one: `search FILE LINES WORK`. Lines are read one
 * by one through a stream, again from the beginning when it ends, and something is computed for each of their
 * letters, WORK times. Prints what came of it, so that nothing of it can be left out. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    long lines = atol(argv[2]), work = atol(argv[3]);
    FILE *in = fopen(argv[1], "r");
    if (!in) return 2;
    char line[256];
    unsigned long score = 1;
    for (long number = 0; number < lines; number++) {
        if (!fgets(line, sizeof line, in)) {
            rewind(in);
            if (!fgets(line, sizeof line, in)) return 3;
        }
        for (long round = 0; round < work; round++)
            for (const char *letter = line; *letter; letter++)
                score = score * 31 + (unsigned long)*letter + (score >> 7);
    }
    fclose(in);
    printf("%lu\n", score);
    return 0;
}
