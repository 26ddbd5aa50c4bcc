/* Makes one kind of call many times and prints what a call took.
 *
 *   calls OP BYTES COUNT ROUNDS THREADS same|distinct DIR
 *
 * Prints `cpu MIN MEDIAN wall MIN MEDIAN` in nanoseconds a call over the rounds (with threads: of the
 * mean over them), and in how many rounds all threads ran at the same time: each has a processor of its
 * own, and a round in which they did not overlap for nine tenths of their time does not count (its times
 * are infinite). With `null.c` preloaded the calls themselves cost nothing. Leaves without running
 * any handler, so that counting instructions counts calls and not what is done at exit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, MOST_ROUNDS = 1000 };
static const char *op, *dir;
static size_t bytes;
static long count, rounds, threads;
static int same, shared_fd;
static double cpu[MOST_ROUNDS], wall[MOST_ROUNDS];
static double thread_cpu[MOST_THREADS][MOST_ROUNDS], thread_wall[MOST_THREADS][MOST_ROUNDS];
static double thread_begin[MOST_THREADS][MOST_ROUNDS];
static pthread_barrier_t together;
static void (*null_calls)(int);

static void fail(const char *what) { perror(what); syscall(SYS_exit_group, 2); }

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void path_of(char *to, long number) { sprintf(to, "%s/calls-%d-%ld", dir, (int)getpid(), number); }

static void loop(int fd, const char *path, FILE *stream, char *buffer)
{
    off_t at = 0;
    if (!strcmp(op, "pwrite")) for (long i = 0; i < count; i++, at += bytes) pwrite(fd, buffer, bytes, at);
    else if (!strcmp(op, "pread")) for (long i = 0; i < count; i++, at += bytes) pread(fd, buffer, bytes, at);
    else if (!strcmp(op, "write")) for (long i = 0; i < count; i++) write(fd, buffer, bytes);
    else if (!strcmp(op, "read")) for (long i = 0; i < count; i++) read(fd, buffer, bytes);
    else if (!strcmp(op, "lseek")) for (long i = 0; i < count; i++) lseek(fd, i, SEEK_SET);
    else if (!strcmp(op, "openclose")) for (long i = 0; i < count; i++) close(open(path, O_RDWR, 0));
    else if (!strcmp(op, "fwrite")) for (long i = 0; i < count; i++) fwrite(buffer, 1, bytes, stream);
    else if (!strcmp(op, "fprintf")) for (long i = 0; i < count; i++) fprintf(stream, "%08ld\n", i);
    else fail(op);
}

static void *run(void *argument)
{
    long me = (long)argument;
    char path[600], stream_path[620];
    char *buffer = aligned_alloc(4096, 1 << 20);
    path_of(path, same ? 0 : me);
    int fd = same ? shared_fd : open(path, O_RDWR | O_CREAT, 0600);
    FILE *stream = fopen(strcat(strcpy(stream_path, path), "-stream"), "w");
    if (fd < 0 || !stream || !buffer) fail(path);
    memset(buffer, 'x', 1 << 20);
    if (threads > 1) {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(me % sysconf(_SC_NPROCESSORS_ONLN), &own);
        sched_setaffinity(0, sizeof own, &own);
    }
    pthread_barrier_wait(&together); /* everybody has opened its file */
    if (null_calls) null_calls(1);
    for (long round = 0; round <= rounds; round++) {
        pthread_barrier_wait(&together);
        double begin = now(CLOCK_MONOTONIC), w = begin, c = now(CLOCK_THREAD_CPUTIME_ID);
        loop(fd, path, stream, buffer);
        c = now(CLOCK_THREAD_CPUTIME_ID) - c;
        w = now(CLOCK_MONOTONIC) - w;
        if (round == 0) continue; /* warms up */
        thread_cpu[me][round - 1] = c / count;
        thread_wall[me][round - 1] = w / count;
        thread_begin[me][round - 1] = begin;
    }
    return NULL;
}

/* Whether all threads ran at the same time in a round, for nine tenths of it, and were not made to wait
 * for a processor meanwhile. */
static int overlapped(long round)
{
    double first = INFINITY, last_begin = 0, first_end = INFINITY, last = 0;
    for (long t = 0; t < threads; t++) {
        double begin = thread_begin[t][round], end = begin + thread_wall[t][round] * count;
        first = fmin(first, begin); last_begin = fmax(last_begin, begin);
        first_end = fmin(first_end, end); last = fmax(last, end);
        if (thread_cpu[t][round] < 0.9 * thread_wall[t][round]) return 0;
    }
    return first_end - last_begin > 0.9 * (last - first);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    if (argc != 8) { fprintf(stderr, "calls OP BYTES COUNT ROUNDS THREADS same|distinct DIR\n"); return 2; }
    op = argv[1]; bytes = atol(argv[2]); count = atol(argv[3]); rounds = atol(argv[4]);
    threads = atol(argv[5]); same = !strcmp(argv[6], "same"); dir = argv[7];
    char path[600];
    path_of(path, 0);
    shared_fd = open(path, O_RDWR | O_CREAT, 0600);
    if (shared_fd < 0) fail(path);
    null_calls = (void (*)(int))dlsym(RTLD_DEFAULT, "null_calls");
    pthread_barrier_init(&together, NULL, threads);
    pthread_t other[MOST_THREADS];
    for (long i = 1; i < threads; i++) pthread_create(&other[i], NULL, run, (void *)i);
    run((void *)0);
    for (long i = 1; i < threads; i++) pthread_join(other[i], NULL);
    long together_in = 0;
    for (long r = 0; r < rounds; r++) {
        for (long t = 0; t < threads; t++) { cpu[r] += thread_cpu[t][r] / threads; wall[r] += thread_wall[t][r] / threads; }
        if (overlapped(r)) together_in++;
        else if (threads > 1) cpu[r] = wall[r] = INFINITY;
    }
    qsort(cpu, rounds, sizeof *cpu, rising);
    qsort(wall, rounds, sizeof *wall, rising);
    if (null_calls) null_calls(0);
    char line[200];
    int n = sprintf(line, "cpu %.1f %.1f wall %.1f %.1f together %ld\n", cpu[0], cpu[rounds / 2], wall[0], wall[rounds / 2], together_in);
    syscall(SYS_write, 1, line, n);
    for (long i = 0; i < threads; i++) {
        path_of(path, i);
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        strcat(path, "-stream");
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    }
    syscall(SYS_exit_group, 0);
}
