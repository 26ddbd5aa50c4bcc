/* dlopen and dlclose, three rounds: a library that comes and goes writes in its constructor, in a
 * function and in its destructor. */
#include "expect.h"
#include <dlfcn.h>

int main(int count, char **arguments) {
    must(count == 2);
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        must(library);
        void (*work)(int);
        *(void **)&work = dlsym(library, "plugin_work");
        must(work);
        work(5);
        must(dlclose(library) == 0);
    }
    expect_posix("arrive.dat", 3, 3, 18, 0, 0);
    expect_posix("work.dat", 3, 15, 90, 0, 0);
    expect_posix("leave.dat", 3, 6, 36, 0, 0);
    printf("three rounds; %s\n", dlopen("/nonexistent.so", RTLD_NOW) ? "found" : dlerror());
    return 0;
}
