/* A patcher writes its jump over every function that netra exports, one after the other, as it finds it: all
 * other functions stay as they are and are called, and calls by each name of the patched one come to it. The
 * names are the arguments. */
#include "patch.h"
#include <dlfcn.h>

static volatile long told;
static long tell(void) {
    told++;
    return -7;
}

/* Calls that fail and do no harm, by one name after the other. */
static long call_open(void *f) { return ((int (*)(const char *, int, int))f)("", 0, 0); }
static long call_descriptor(void *f) { return ((int (*)(int))f)(-1); }
static long call_stat(void *f) { return ((int (*)(const char *, void *))f)("", NULL); }
static long call_moved(void *f) { return ((long (*)(int, void *, size_t, long))f)(-1, NULL, 0, 0); }
static long call_seek(void *f) { return ((long (*)(int, long, int))f)(-1, 0, 0); }
static const struct {
    const char *name;
    long (*call)(void *function);
} callable[] = {
    {"open", call_open},         {"open64", call_open},       {"creat", call_open},
    {"creat64", call_open},      {"close", call_descriptor},  {"dup", call_descriptor},
    {"fsync", call_descriptor},  {"fdatasync", call_descriptor}, {"read", call_moved},
    {"pread", call_moved},       {"pread64", call_moved},     {"write", call_moved},
    {"pwrite", call_moved},      {"pwrite64", call_moved},    {"lseek", call_seek},
    {"lseek64", call_seek},      {"access", call_seek},       {"unlink", call_stat},
    {"rmdir", call_stat},        {"fchmod", call_descriptor}, {"ftruncate", call_descriptor},
    {"ftruncate64", call_descriptor},
};
enum { CALLS = sizeof callable / sizeof *callable, MOST = 1000 };

static unsigned char before[MOST][PATCH_BYTES];
static void *function[MOST];

int main(int count, char **names) {
    must(count - 1 < MOST);
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    must(libc);
    int present = 0, touched = 0, astray = 0, silent = 0;
    for (int i = 1; i < count; i++)
        function[i] = dlsym(RTLD_DEFAULT, names[i]);
    for (int i = 1; i < count; i++) {
        if (!function[i])
            continue;
        /* One that this libc does not have is netra's alone. */
        present += dlsym(libc, names[i]) != NULL;
        for (int k = 1; k < count; k++)
            if (function[k])
                memcpy(before[k], function[k], PATCH_BYTES);
        unsigned char jump[PATCH_BYTES];
        make_jump(jump, (void *)tell);
        overwrite(function[i], jump, sizeof jump);
        for (int k = 1; k < count; k++)
            if (function[k] && function[k] != function[i])
                for (int byte = 0; byte < PATCH_BYTES; byte++)
                    touched += ((unsigned char *)function[k])[byte] != before[k][byte];
        /* A first byte that was changed would be called: better say so. */
        for (int c = 0; c < CALLS && !touched; c++) {
            void *called = dlsym(RTLD_DEFAULT, callable[c].name);
            long was = told, result = callable[c].call(called);
            astray += called != function[i] && (told != was || result == -7);
            silent += called == function[i] && (told != was + 1 || result != -7);
        }
        overwrite(function[i], before[i], PATCH_BYTES);
    }
    printf("%d patched: %d bytes of others changed, %d calls astray, %d not told\n", present, touched, astray, silent);
    /* Names that are one function in libc are told of together. */
    for (int c = 0; c < CALLS; c++) {
        void *patched = dlsym(RTLD_DEFAULT, callable[c].name);
        unsigned char jump[PATCH_BYTES], kept[PATCH_BYTES];
        memcpy(kept, patched, sizeof kept);
        make_jump(jump, (void *)tell);
        overwrite(patched, jump, sizeof jump);
        char row[CALLS + 1] = "";
        for (int other = 0; other < CALLS; other++)
            row[other] = callable[other].call(dlsym(RTLD_DEFAULT, callable[other].name)) == -7 ? 'x' : '.';
        overwrite(patched, kept, sizeof kept);
        printf("%-12s %s\n", callable[c].name, row);
    }
    return 0;
}
