/* Threads that open, write and close at the same time, so that numbers go from one file to another
 * all the time: each byte belongs to the file it was written to. */
#include "expect.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 500 };

static void *work(void *argument) {
    char name[16];
    long self = (long)argument;
    snprintf(name, sizeof name, "thread%ld.dat", self);
    for (int i = 0; i < ROUNDS; i++) {
        int fd = open(name, O_RDWR | O_CREAT, 0644);
        must(fd >= 0);
        write_times(fd, 1, (int)(10 * (self + 1)));
        must(close(fd) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        char name[16];
        must(pthread_join(threads[i], NULL) == 0);
        snprintf(name, sizeof name, "thread%ld.dat", i);
        expect_posix(name, ROUNDS, ROUNDS, ROUNDS * 10 * (i + 1), 0, 0);
    }
    printf("%d opens\n", THREADS * ROUNDS);
    return 0;
}
