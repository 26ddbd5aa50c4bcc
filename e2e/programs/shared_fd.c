/* Four threads on one descriptor with write and read (the position is shared, the kernel keeps
 * order) and with pwrite: every call and byte is counted. */
#include "expect.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 2000 };
static int sequential, positioned;

static void *work(void *argument) {
    char bytes[32] = {0};
    long self = (long)argument;
    for (long i = 0; i < ROUNDS; i++) {
        if (write(sequential, bytes, 8) != 8)
            return (void *)1;
        if (pwrite(positioned, bytes, 32, 32 * (self * ROUNDS + i)) != 32)
            return (void *)1;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    sequential = open("sequential.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    positioned = open("positioned.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(sequential >= 0 && positioned >= 0);
    for (long i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        must(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    }
    must(lseek(sequential, 0, SEEK_CUR) == 8L * THREADS * ROUNDS);
    expect_posix("sequential.dat", 1, THREADS * ROUNDS, 8L * THREADS * ROUNDS, 0, 0);
    expect("sequential.dat", "POSIX_SEEKS", 1);
    expect("sequential.dat", "POSIX_MAX_BYTE_WRITTEN", 8L * THREADS * ROUNDS - 1);
    expect_posix("positioned.dat", 1, THREADS * ROUNDS, 32L * THREADS * ROUNDS, 0, 0);
    expect("positioned.dat", "POSIX_MAX_BYTE_WRITTEN", 32L * THREADS * ROUNDS - 1);
    printf("%d calls\n", 2 * THREADS * ROUNDS);
    return 0;
}
