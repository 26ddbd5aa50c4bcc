/* A bad guest, for tests/host.rs: it keeps a descriptor open. */
#include <fcntl.h>

__attribute__((constructor)) static void start(void) { open("/dev/null", O_RDONLY); }
