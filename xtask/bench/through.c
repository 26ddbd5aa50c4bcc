/* through FILE BLOCKS CALLS: writes one byte CALLS times through the C library, where a tool may stand in between, and
 * as often past it, BLOCKS times by turns. Says the nanoseconds of processor time that the way through took more: of
 * the middle pair of blocks, so that what disturbs one of them counts for nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "past.h"

static double cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int order(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    long blocks = atol(argv[2]), calls = atol(argv[3]);
    double *more = calloc((size_t)blocks, sizeof *more);
    int file = open(argv[1], O_CREAT | O_RDWR, 0600);
    if (file < 0 || !more)
        return 2;
    for (long block = 0; block < blocks; block++) {
        double begin = cpu();
        for (long call = 0; call < calls; call++)
            if (pwrite(file, "x", 1, 0) != 1)
                return 3;
        double middle = cpu();
        for (long call = 0; call < calls; call++)
            if (past(SYS_pwrite64, file, "x", 1, 0) != 1)
                return 3;
        more[block] = (middle - begin - (cpu() - middle)) / (double)calls;
    }
    qsort(more, (size_t)blocks, sizeof *more, order);
    printf("%.2f\n", more[blocks / 2]);
    return 0;
}
