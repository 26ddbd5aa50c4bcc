/* RTLD_DEEPBIND: the library looks for symbols in itself and its own dependencies first, so it
 * finds libc's functions and not ours. It must work as without us; its calls are not seen, which
 * is asserted here so that a change is noticed. */
#include "expect.h"
#include <dlfcn.h>

int main(int count, char **arguments) {
    must(count == 2);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND);
    must(library);
    void (*work)(int);
    *(void **)&work = dlsym(library, "plugin_work");
    must(work);
    work(5);
    int fd = open("own.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 2, 8);
    struct stat facts;
    must(stat("work.dat", &facts) == 0);
    expect("work.dat", "POSIX_STATS", 1);
    expect_posix("own.dat", 1, 2, 16, 0, 0);
    printf("the library wrote %lld bytes\n", (long long)facts.st_size);
    return 0;
}
