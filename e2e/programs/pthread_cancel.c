/* pthread_cancel while a thread blocks in a call of ours: its cleanup handlers run, it is joined as
 * cancelled, and the rest is counted. */
#include "expect.h"
#include <pthread.h>

static int fifo, written;

static void cleanup(void *argument) {
    (void)argument;
    write_times(written, 1, 5);
    printf("cleanup handler ran\n");
}

static void *reader(void *ready) {
    char byte;
    pthread_cleanup_push(cleanup, NULL);
    write_times(written, 1, 5);
    pthread_barrier_wait(ready);
    while (read(fifo, &byte, 1) == 1)
        ;
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_barrier_t ready;
    pthread_t thread;
    void *result;
    must(mkfifo("pipe", 0644) == 0);
    fifo = open("pipe", O_RDWR);
    written = open("written.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fifo >= 0 && written >= 0);
    for (int round = 0; round < 20; round++) {
        must(pthread_barrier_init(&ready, NULL, 2) == 0);
        must(pthread_create(&thread, NULL, reader, &ready) == 0);
        pthread_barrier_wait(&ready);
        must(pthread_cancel(thread) == 0);
        must(pthread_join(thread, &result) == 0);
        must(result == PTHREAD_CANCELED);
    }
    write_times(fifo, 1, 4);
    expect_posix("pipe", 1, 1, 4, 0, 0);
    expect_posix("written.dat", 1, 40, 200, 0, 0);
    return 0;
}
