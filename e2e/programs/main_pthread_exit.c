/* main leaves by pthread_exit while another thread still works: the process ends with the last
 * thread, and its log has everything. */
#include "expect.h"
#include <pthread.h>

static pthread_t first;

static void *last(void *argument) {
    int fd = open("last.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(pthread_join(first, NULL) == 0);
    write_times(fd, 10, 10);
    expect_posix("last.dat", 1, 10, 100, 0, 0);
    printf("the last thread\n");
    return argument;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    must(pthread_create(&thread, NULL, last, NULL) == 0);
    pthread_exit(NULL);
}
