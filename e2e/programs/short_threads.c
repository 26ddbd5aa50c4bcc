/* Ten thousand threads that live for one call, eight at a time: slots are used again, memory does
 * not grow with the number of threads, and every call is counted. */
#include "expect.h"
#include <pthread.h>

static int fd;

static void *once(void *argument) {
    char bytes[16] = {0};
    return pwrite(fd, bytes, sizeof bytes, 16 * (long)argument) == 16 ? NULL : argument;
}

int main(void) {
    fd = open("threads.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    for (long batch = 0; batch < 1250; batch++) {
        pthread_t threads[8];
        void *failed;
        for (long i = 0; i < 8; i++)
            must(pthread_create(&threads[i], NULL, once, (void *)(batch * 8 + i)) == 0);
        for (long i = 0; i < 8; i++)
            must(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    }
    expect_posix("threads.dat", 1, 10000, 160000, 0, 0);
    expect("threads.dat", "POSIX_MAX_BYTE_WRITTEN", 159999);
    printf("10000 threads\n");
    return 0;
}
