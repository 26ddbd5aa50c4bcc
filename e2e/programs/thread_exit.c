/* A thread that ends by pthread_exit, with a key destructor that still writes: after our own
 * per-thread clean-up, in whatever order libc chooses. */
#include "expect.h"
#include <pthread.h>

static int fd;
static pthread_key_t early, late;

static void destructor(void *value) {
    write_times(fd, 1, 3);
    /* libc calls destructors again for keys set meanwhile, up to four rounds. */
    if (value == (void *)1)
        pthread_setspecific(late, (void *)2);
}

static void *work(void *argument) {
    pthread_setspecific(early, (void *)1);
    write_times(fd, 2, 3);
    pthread_exit(argument);
}

int main(void) {
    fd = open("exit.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    must(pthread_key_create(&early, destructor) == 0);
    must(pthread_key_create(&late, destructor) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, work, NULL) == 0);
        must(pthread_join(thread, NULL) == 0);
    }
    expect_posix("exit.dat", 1, 200, 600, 0, 0);
    printf("50 threads ended by pthread_exit\n");
    return 0;
}
