/* A library loaded by its name alone, which the loader looks for: what it maps is counted from its first call
 * on, and so is what one with RTLD_DEEPBIND maps. A caller with a RUNPATH of its own finds what is there. */
#include "expect.h"
#include <dlfcn.h>
#include <libgen.h>

int main(int count, char **arguments) {
    must(count >= 2);
    if (count == 2) {
        char *path = strdup(arguments[1]);
        must(setenv("LD_LIBRARY_PATH", dirname(path), 1) == 0);
        execl("/proc/self/exe", arguments[0], arguments[1], "again", (char *)NULL);
        must(!"exec returned");
    }
    char *name = basename(strdup(arguments[1]));
    void *library = dlopen(name, RTLD_NOW | RTLD_DEEPBIND);
    must(library);
    void (*work)(int) = (void (*)(int))dlsym(library, "plugin_work");
    int (*map)(void) = (int (*)(void))dlsym(library, "plugin_map");
    must(work && map);
    work(1);
    must(map() == 0);
    /* The library calls libc past us; but for mappings. */
    expect("work.dat", "POSIX_MMAPS", 1);
    printf("by name; %s\n", dlopen("libnone.so", RTLD_NOW) ? "found" : dlerror());
    return 0;
}
