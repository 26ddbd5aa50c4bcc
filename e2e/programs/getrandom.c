/* The example module: random bytes are counted, in the netra section of the log, also where they are
 * the first thing a process asks for. */
#include "expect.h"
#include <sys/random.h>

int main(void) {
    char bytes[64];
    for (int i = 0; i < 7; i++)
        must(getrandom(bytes, 10, 0) == 10);
    int fd = open("made.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 1, 1);
    must(getentropy(bytes, 16) == 0);
    must(getrandom(bytes, 1, 0x1000) == -1);
    printf("getrandom: %s\n", strerror(errno));
    expect_posix("made.dat", 1, 1, 1, 0, 0);
    expect("<RANDOM>", "RANDOM_CALLS", 8);
    expect("<RANDOM>", "RANDOM_BYTES", 86);
    expect_calls("getrandom", 9);
    return 0;
}
