/* The example module: getrandom is counted with its bytes. */
#include "expect.h"
#include <sys/random.h>

int main(void) {
    char bytes[64];
    for (int i = 0; i < 7; i++)
        must(getrandom(bytes, 10, 0) == 10);
    must(getrandom(bytes, 1, 0x1000) == -1);
    printf("getrandom: %s\n", strerror(errno));
    expect("<random>", "RANDOM_CALLS", 7);
    expect("<random>", "RANDOM_BYTES", 70);
    return 0;
}
