/* Three hundred threads alive at once: more than any small table of slots. */
#include "expect.h"
#include <pthread.h>

static pthread_barrier_t all;
static int fd;

static void *work(void *argument) {
    char bytes[8] = {0};
    pthread_barrier_wait(&all);
    for (int i = 0; i < 50; i++)
        if (pwrite(fd, bytes, sizeof bytes, 0) != 8)
            return argument;
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void) {
    enum { COUNT = 300 };
    static pthread_t threads[COUNT];
    pthread_attr_t small;
    must(pthread_attr_init(&small) == 0);
    must(pthread_attr_setstacksize(&small, 64 * 1024) == 0);
    must(pthread_barrier_init(&all, NULL, COUNT) == 0);
    fd = open("together.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    for (long i = 0; i < COUNT; i++)
        must(pthread_create(&threads[i], &small, work, (void *)1) == 0);
    for (long i = 0; i < COUNT; i++) {
        void *failed;
        must(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    }
    expect_posix("together.dat", 1, COUNT * 50, COUNT * 50 * 8, 0, 0);
    printf("%d threads at once\n", COUNT);
    return 0;
}
