/* A bad guest, for tests/host.rs: it talks into the application's streams. */
#include <unistd.h>

__attribute__((constructor)) static void start(void) {
    if (write(2, "hello from the guest\n", 21) != 21)
        _exit(1);
}
