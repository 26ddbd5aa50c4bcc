/* What the libraries below MPI are told of memory that comes and goes: UCX by a handler of ours, Open MPI's own
 * hooks by another; both patch code to know. Neither is linked: with another order of libraries they would find
 * other functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ucm/api/ucm.h */
enum { MAPPED = 1 << 16, UNMAPPED = 1 << 17 };
static volatile int maps, unmaps, released;
static void on(int type, void *event, void *with) {
    if (type == MAPPED)
        maps++;
    if (type == UNMAPPED)
        unmaps++;
}

static void on_release(void *memory, size_t bytes, void *with, bool from_allocator) { released++; }

#define N 1048576
#define MAP(f, at, more) f(at, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0)

static void say(const char *what) {
    printf("%s: mapped %d, unmapped %d, released %d\n", what, maps, unmaps, released);
    maps = unmaps = released = 0;
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    void *ucm = dlopen("libucm.so.0", RTLD_NOW | RTLD_NOLOAD);
    int (*set)(int, int, void (*)(int, void *, void *), void *) =
        ucm ? dlsym(ucm, "ucm_set_event_handler") : NULL;
    void *pal = dlopen("libopen-pal.so.40", RTLD_NOW | RTLD_NOLOAD);
    int (*release)(void (*)(void *, size_t, void *, bool), void *) =
        pal ? dlsym(pal, "opal_mem_hooks_register_release") : NULL;
    printf("UCX's hooks: %d", set ? set(MAPPED | UNMAPPED, 0, on, NULL) : -999);
    printf(", Open MPI's: %d\n", release ? release(on_release, NULL) : -999);
    say("registered");
    void *a = MAP(mmap, NULL, 0);
    say("mmap");
    void *b = MAP(mmap64, NULL, 0);
    say("mmap64");
    MAP(mmap64, b, MAP_FIXED);
    say("mmap64 over it");
    munmap(a, N);
    munmap(b, N);
    say("munmap");
    void *volatile large = malloc(64 << 20);
    say("malloc");
    free(large);
    say("free");
    MPI_Finalize();
    return 0;
}
