/* A bad guest, for tests/host.rs: it changes how the application ends. */
#include <unistd.h>

__attribute__((destructor)) static void end(void) { _exit(1); }
