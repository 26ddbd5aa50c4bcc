/* Threads with the smallest stack there is, and a handler on a small alternate stack, all doing
 * I/O: hooks must be frugal with the application's stack. */
#include "expect.h"
#include <limits.h>
#include <pthread.h>
#include <signal.h>

static int fd;

static void *work(void *argument) {
    struct stat facts;
    write_times(fd, 10, 10);
    must(fstat(fd, &facts) == 0);
    return argument;
}

static void handler(int signal) {
    (void)signal;
    work(NULL);
    int own = open("handler.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(own, 1, 1);
    close(own);
}

int main(void) {
    fd = open("small.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    pthread_attr_t smallest;
    must(pthread_attr_init(&smallest) == 0);
    must(pthread_attr_setstacksize(&smallest, (size_t)PTHREAD_STACK_MIN) == 0);
    pthread_t thread;
    must(pthread_create(&thread, &smallest, work, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
    stack_t alternate = {.ss_sp = malloc(size), .ss_size = size};
    must(alternate.ss_sp && sigaltstack(&alternate, NULL) == 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    must(raise(SIGUSR1) == 0);
    expect_posix("small.dat", 1, 20, 200, 0, 0);
    expect("small.dat", "POSIX_STATS", 2);
    expect_posix("handler.dat", 1, 1, 1, 0, 0);
    printf("done\n");
    return 0;
}
