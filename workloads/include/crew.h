/* Who we are among how many, with MPI and (-DWITHOUT_MPI) without.
 *
 * A program begins with crew_begin() after its knobs are read, and ends with crew_end(). Failures of
 * the world (no space, no permission) end the whole crew with 1 and say what was tried on which rank. */
#ifndef CREW_H
#define CREW_H

#include "knob.h"
#include <time.h>
#ifndef WITHOUT_MPI
#include <mpi.h>
#endif

static struct {
    int rank, ranks;
} crew = {0, 1};

static double crew_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* the same clock on every rank of a node */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void crew_barrier(void)
{
#ifndef WITHOUT_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

__attribute__((noreturn, format(printf, 1, 2))) static void crew_fail(const char *form, ...)
{
    va_list args;
    va_start(args, form);
    fprintf(stderr, "%s: rank %d: ", knob_line.program, crew.rank);
    vfprintf(stderr, form, args);
    fputc('\n', stderr);
    va_end(args);
#ifndef WITHOUT_MPI
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    exit(1);
}

static int crew_leave(int code)
{
#ifndef WITHOUT_MPI
    MPI_Finalize();
#endif
    exit(code);
}

/* Joins the crew; a refused command line or --help ends here, spoken by rank 0 alone. */
static void crew_begin(int argc, char **argv, int threads)
{
#ifdef WITHOUT_MPI
    (void)argc, (void)argv, (void)threads;
#else
    int given;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &crew.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &crew.ranks);
    if (threads && given < MPI_THREAD_SERIALIZED && crew.rank == 0)
        crew_fail("this MPI allows no second thread (MPI_THREAD_SERIALIZED)");
#endif
    if (knob_line.refusal[0]) {
        if (crew.rank == 0)
            fprintf(stderr, "%s: %s\n", knob_line.program, knob_line.refusal);
        crew_leave(KNOB_USAGE);
    }
    if (knob_line.help) {
        if (crew.rank == 0)
            knob_help();
        crew_leave(0);
    }
}

/* Says how fast it was, by the rule of the HACC-IO study: bytes over the time from the earliest start
 * to the latest end of any rank. */
static void crew_report(const char *what, double start, double end, long long bytes)
{
    double first = start, last = end;
    long long all = bytes;
#ifndef WITHOUT_MPI
    MPI_Reduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bytes, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
#endif
    if (crew.rank == 0)
        fprintf(stderr, "%s: %s %lld bytes in %.6f s, %.1f MiB/s\n", knob_line.program, what, all, last - first,
                last > first ? (double)all / (last - first) / 1048576.0 : 0.0);
}

/* Keeps the processor busy, as computing would. */
static void crew_compute(double seconds)
{
    volatile double sum = 0;
    for (double end = crew_now() + seconds; crew_now() < end;)
        for (int i = 0; i < 1000; i++)
            sum = sum + i;
}

/* Memory of `bytes` bytes, aligned for O_DIRECT, or the end. */
static void *crew_memory(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes ? bytes : 1))
        crew_fail("no memory for %zu bytes", bytes);
    return memory;
}

/* Every program's last word. */
static int crew_end(void)
{
    crew_barrier();
    crew_leave(0);
    return 0;
}

#endif
