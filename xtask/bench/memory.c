/* Threads that write many files each, at the same time, and what memory the process has then:
 *
 *   memory FILES THREADS DIR
 *
 * Prints the resident KiB. Leaves without running any handler. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long files;
static const char *dir;
static pthread_barrier_t all;

static void *run(void *argument)
{
    long me = (long)argument;
    for (long i = 0; i < files; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/memory-%d-%ld-%ld", dir, (int)getpid(), me, i);
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, "x", 1) != 1) { perror(path); exit(2); }
        close(fd);
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    }
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4) { fprintf(stderr, "memory FILES THREADS DIR\n"); return 2; }
    files = atol(argv[1]);
    long threads = atol(argv[2]);
    dir = argv[3];
    pthread_barrier_init(&all, NULL, threads + 1);
    for (long i = 0; i < threads; i++) { pthread_t one; pthread_create(&one, NULL, run, (void *)i); }
    pthread_barrier_wait(&all);
    char text[8192], line[64];
    int status = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY, 0);
    long length = syscall(SYS_read, status, text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    char *found = strstr(text, "VmRSS:");
    int n = snprintf(line, sizeof line, "%ld\n", found ? atol(found + 6) : -1);
    syscall(SYS_write, 1, line, n);
    syscall(SYS_exit_group, 0);
}
