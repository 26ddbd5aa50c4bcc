/* mmap: bytes move without a call; mappings are counted per file, anonymous ones are nobody's. Called by name,
 * by its address, and by an address in initialised data, as SQLite does. */
#include "expect.h"
#include <sys/mman.h>

typedef void *mapping(void *, size_t, int, int, int, off_t);
static struct {
    const char *name;
    mapping *call;
} table[] = {{"mmap", mmap}, {"mmap64", (mapping *)mmap64}};

int main(void) {
    int fd = open("mapped.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && ftruncate(fd, 65536) == 0);
    char *shared = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *private = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
    char *nobody = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED && private != MAP_FAILED && nobody != MAP_FAILED);
    memset(shared, 'x', 65536);
    mapping *volatile address = mmap;
    must(address(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        must(table[i].call(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    must(msync(shared, 65536, MS_SYNC) == 0);
    must(mmap(NULL, 4096, PROT_READ, MAP_SHARED, 99, 0) == MAP_FAILED);
    printf("mmap: %s\n", strerror(errno));
    must(munmap(shared, 65536) == 0 && munmap(private, 4096) == 0 && munmap(nobody, 4096) == 0);
    expect("mapped.dat", "POSIX_OPENS", 1);
    expect("mapped.dat", "POSIX_MMAPS", 5);
    expect_calls("msync", 1);
    return 0;
}
