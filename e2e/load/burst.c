/* Many events: `burst FILE CALLS [THREADS]`. Every thread writes one byte CALLS times and says how
 * many it wrote. With a fourth argument it waits for a line on standard input before it ends. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long calls;
static int fd;

static void *burst(void *number) {
    off_t at = (off_t)(long)number;
    for (long call = 0; call < calls; call++)
        if (pwrite(fd, "x", 1, at) != 1) exit(3);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    pthread_t started[64];
    calls = atol(argv[2]);
    fd = open(argv[1], O_CREAT | O_RDWR, 0600);
    if (fd < 0 || threads > 64) return 2;
    for (long thread = 1; thread < threads; thread++)
        if (pthread_create(&started[thread], NULL, burst, (void *)thread)) return 2;
    burst((void *)0L);
    for (int thread = 1; thread < threads; thread++) pthread_join(started[thread], NULL);
    if (argc > 4 && getchar() == EOF) return 4;
    close(fd);
    return 0;
}
