/* Memory reserved before MPI begins, so that libraries which MPI loads (UCX, which patches `mmap`) lie far from
 * those of the start; each rank maps one file before MPI begins and one while it goes on. Argument: GiB, 4 without one. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int map_file(const char *when, int number) {
    char name[64];
    snprintf(name, sizeof name, "%s.%d", when, number);
    int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, 65536) != 0)
        return 1;
    char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return 1;
    memset(page, 'x', 65536);
    return munmap(page, 65536) != 0 || close(fd) != 0;
}

int main(int count, char **arguments) {
    size_t far = (size_t)(count > 1 ? atol(arguments[1]) : 4) << 30;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, rank, launched = 0;
    if (far && mmap(NULL, far, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return 2;
    /* The rank, as its launcher says it: MPI is not there yet. */
    const char *names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    for (int i = 0; i < 2; i++)
        if (getenv(names[i]))
            launched = atoi(getenv(names[i]));
    if (map_file("before", launched) != 0 || MPI_Init(&count, &arguments) != MPI_SUCCESS)
        return 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (map_file("during", rank) != 0)
        return 4;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        puts("ok");
    return 0;
}
