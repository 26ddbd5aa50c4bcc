/* A patcher of memory calls as UCX is one, with and without gigabytes between it and what it patches: it writes
 * a jump over the function that it finds for `mmap`, or changes callers' slots. It is told of every mapping,
 * libc's own too, and mappings of files are counted before, during and after. Arguments: code or slots, and
 * how many GiB are reserved. */
#define _FILE_OFFSET_BITS 64
#include "patch.h"
#include <dlfcn.h>
#include <link.h>

#define N 65536
#define MAP(f, fd, flags) f(NULL, N, PROT_READ | PROT_WRITE, flags, fd, 0)
/* The compiler believes that libc's functions never call back. */
static volatile long told;
typedef void *mapping(void *, size_t, int, int, int, off_t);
static mapping *behind;

static void *mine(void *at, size_t bytes, int access, int flags, int fd, off_t offset) {
    told++;
    if (behind)
        return behind(at, bytes, access, flags, fd, offset);
    /* The function itself is gone. */
    return (void *)syscall(SYS_mmap, at, bytes, access, flags, fd, offset);
}

static int fd;
static mapping *const in_data = mmap;

static void each(const char *when) {
    long was = told;
    must(MAP(mmap, fd, MAP_SHARED) != MAP_FAILED && MAP(mmap64, fd, MAP_PRIVATE) != MAP_FAILED);
    printf("%s: told of files %ld", when, told - was), was = told;
    must(MAP(mmap, -1, MAP_PRIVATE | MAP_ANONYMOUS) != MAP_FAILED);
    must(MAP(mmap64, -1, MAP_PRIVATE | MAP_ANONYMOUS) != MAP_FAILED);
    printf(", of memory %ld", told - was), was = told;
    void *volatile large = malloc(64 << 20);
    must(large);
    free(large);
    printf(", of libc's %ld", told - was), was = told;
    void *again = dlsym(RTLD_DEFAULT, "mmap64");
    must(MAP(((mapping *)again), -1, MAP_PRIVATE | MAP_ANONYMOUS) != MAP_FAILED);
    printf(", by an address %ld\n", told - was);
    expect("told.dat", "POSIX_MMAPS", 2);
}

/* Changes slots of this program as UCX does with UCX_MEM_MMAP_HOOK_MODE=reloc. */
static int change(struct dl_phdr_info *info, size_t size, void *to) {
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const ElfW(Rela) *tables[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    for (; d && d->d_tag; d++) {
        if (d->d_tag == DT_SYMTAB) symbols = (void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB) strings = (void *)d->d_un.d_ptr;
        if (d->d_tag == DT_JMPREL) tables[0] = (void *)d->d_un.d_ptr;
        if (d->d_tag == DT_PLTRELSZ) bytes[0] = d->d_un.d_val;
        if (d->d_tag == DT_RELA) tables[1] = (void *)d->d_un.d_ptr;
        if (d->d_tag == DT_RELASZ) bytes[1] = d->d_un.d_val;
    }
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < bytes[t] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *one = &tables[t][i];
            if (strncmp(strings + symbols[ELF64_R_SYM(one->r_info)].st_name, "mmap", 4) != 0)
                continue;
            void **slot = (void *)(info->dlpi_addr + one->r_offset);
            if ((const void *)slot == (const void *)&in_data)
                continue;
            void *page = (void *)((uintptr_t)slot & ~4095ul);
            must(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
            if (to)
                behind = (mapping *)*slot;
            *slot = to ? to : (void *)behind;
        }
    return 1; /* the first is the program */
}

int main(int count, char **arguments) {
    must(count == 3);
    size_t far = (size_t)atol(arguments[2]) << 30;
    must(far == 0 || mmap64(NULL, far, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
    fd = open("told.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && ftruncate(fd, N) == 0);
    expect("told.dat", "POSIX_OPENS", 1);
    each("before");
    if (strcmp(arguments[1], "code") == 0) {
        unsigned char jump[PATCH_BYTES], kept[PATCH_BYTES];
        void *found = dlsym(RTLD_DEFAULT, "mmap");
        memcpy(kept, found, sizeof kept);
        make_jump(jump, (void *)mine);
        overwrite(found, jump, sizeof jump);
        each("patched");
        overwrite(found, kept, sizeof kept);
    } else {
        dl_iterate_phdr(change, (void *)mine);
        each("changed");
        dl_iterate_phdr(change, NULL);
    }
    each("after");
    must(MAP(in_data, fd, MAP_SHARED) != MAP_FAILED);
    expect("told.dat", "POSIX_MMAPS", 1);
    return 0;
}
