/* Before MPI begins, more is mapped than a near jump reaches, as runtimes with heaps of their own do. What an MPI library
 * writes over the functions of memory has no room but theirs: they must go on working, and their neighbours. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES 65536

static int use(const char *name, void *(*map)(void *, size_t, int, int, int, off_t)) {
    int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (file < 0 || ftruncate(file, BYTES)) return 1;
    char *at = map(0, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return 2;
    memset(at, 1, BYTES);
    return munmap(at, BYTES) || close(file);
}

int main(int count, char **words) {
    size_t far = 4UL << 30;
    void *pool = mmap(0, far, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED) return 3;
    MPI_Init(&count, &words);
    int rank, bad;
    char name[64];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "mapped.%d", rank);
    bad = use(name, mmap);
    snprintf(name, sizeof name, "mapped64.%d", rank);
    bad = bad || use(name, mmap64);
    int all;
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) printf("%s\n", all ? "bad" : "good");
    return all;
}
