/* A shared library for dlopen.c, deepbind.c and late_destructor.c: it writes when told to, when it
 * is loaded and when it goes. Built with -shared. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void note(const char *name, int times) {
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    while (times-- > 0)
        if (write(fd, "plugin", 6) != 6)
            _exit(96);
    close(fd);
}

__attribute__((constructor)) static void arrive(void) { note("arrive.dat", 1); }
__attribute__((destructor)) static void leave(void) { note("leave.dat", 2); }

void plugin_work(int times) { note("work.dat", times); }

int plugin_map(void) {
    int fd = open("work.dat", O_RDONLY);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    return fd < 0 || page == MAP_FAILED || munmap(page, 4096) != 0 || close(fd) != 0;
}
