/* A second preloaded library that ends the process when netra allocates.
 *
 * It stands in front of malloc and its family. A call is netra's when, walking up the stack, the
 * first frame outside libc and the loader lies in libnetra_preload.so, and that frame called malloc
 * itself or one of the functions that netra imports (dlsym, say). What netra passes on to libc it
 * calls through pointers: fopen may allocate. Addresses tell, so it works on the shipped object. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct range { uintptr_t from, to; };
static struct range netra, libc, loader, own;
static __thread int walking __attribute__((tls_model("initial-exec")));
static int ready;

enum { MOST_IMPORTS = 256 };
static void *imports[MOST_IMPORTS];
static uint32_t import_count;
static char netra_path[4096];

static int inside(const struct range *range, uintptr_t at) {
    return at >= range->from && at < range->to;
}

static int note_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    struct range range = {UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + info->dlpi_phdr[i].p_memsz;
        range.from = from < range.from ? from : range.from;
        range.to = to > range.to ? to : range.to;
    }
    if (strstr(info->dlpi_name, "libnetra_preload")) {
        netra = range;
        strncpy(netra_path, info->dlpi_name, sizeof netra_path - 1);
    }
    else if (strstr(info->dlpi_name, "/libc.so"))
        libc = range;
    else if (strstr(info->dlpi_name, "/ld-linux"))
        loader = range;
    else if (strstr(info->dlpi_name, "tripwire"))
        own = range;
    return 0;
}

struct walk { uintptr_t called, caller; };

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    uintptr_t at = _Unwind_GetIP(context);
    if (inside(&own, at))
        return _URC_NO_REASON;
    if (inside(&libc, at) || inside(&loader, at)) {
        walk->called = at;
        return _URC_NO_REASON;
    }
    walk->caller = at;
    return _URC_END_OF_STACK;
}

static void say(const char *text) {
    syscall(SYS_write, 2, text, strlen(text));
}

/* The functions netra imports: the undefined symbols, which stand before the first hashed one. */
static void note_imports(const struct link_map *map) {
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const uint32_t *hash = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB)
            symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            names = at;
        else if (entry->d_tag == DT_GNU_HASH)
            hash = at;
    }
    if (!symbols || !names || !hash)
        return;
    for (uint32_t i = 1; i < hash[1] && import_count < MOST_IMPORTS; i++)
        imports[import_count++] = dlsym(RTLD_DEFAULT, names + symbols[i].st_name);
}

static int is_import(const void *function) {
    for (uint32_t i = 0; i < import_count; i++)
        if (function && imports[i] == function)
            return 1;
    return 0;
}

static void look(const char *what) {
    if (!ready || walking)
        return;
    walking = 1;
    struct walk walk = {0, 0};
    _Unwind_Backtrace(step, &walk);
    Dl_info called = {0};
    if (walk.called)
        dladdr((void *)walk.called, &called);
    if (inside(&netra, walk.caller) && (!walk.called || is_import(called.dli_saddr))) {
        say("tripwire: netra reached ");
        say(what);
        say(walk.called ? " through " : " itself");
        say(called.dli_sname ? called.dli_sname : "");
        say("\n");
        abort();
    }
    walking = 0;
}

__attribute__((constructor)) static void start(void) {
    dl_iterate_phdr(note_module, NULL);
    walking = 1;
    struct walk warm = {0, 0};
    _Unwind_Backtrace(step, &warm);
    walking = 0;
    struct link_map *map = netra.to ? dlopen(netra_path, RTLD_NOLOAD | RTLD_NOW) : NULL;
    if (map)
        note_imports(map);
    ready = import_count != 0;
    if (getenv("TRIPWIRE_SAYS"))
        say(ready ? "tripwire: watching netra\n" : "tripwire: netra is not here\n");
}

void *malloc(size_t size) {
    look("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    look("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    look("realloc");
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    look("memalign");
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    look("aligned_alloc");
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    look("posix_memalign");
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

void free(void *old) {
    look("free");
    __libc_free(old);
}
