/* The variadic functions: Rust can not define them, so each turns its arguments into a list here and
 * goes on in Rust (netra_list_*, see lib.rs), with the caller's return address. Pointers and ints
 * travel in the same registers; what an argument is, only the real function cares. */
#include <stdarg.h>

#define LIST(name, named, ...)                                                                     \
    int netra_variadic_##name(__VA_ARGS__, ...) {                                                  \
        va_list list;                                                                              \
        va_start(list, named);                                                                     \
        int done = CALL_##named(name);                                                             \
        va_end(list);                                                                              \
        return done;                                                                               \
    }
#define SITE __builtin_return_address(0)
#define CALL_a(name) netra_list_##name(a, list, SITE)
#define CALL_b(name) netra_list_##name(a, b, list, SITE)
#define CALL_c(name) netra_list_##name(a, b, c, list, SITE)

#define ONE(name) extern int netra_list_##name(void *, va_list, void *); LIST(name, a, void *a)
#define TWO(name)                                                                                  \
    extern int netra_list_##name(void *, void *, va_list, void *);                                 \
    LIST(name, b, void *a, void *b)
#define THREE(name)                                                                                \
    extern int netra_list_##name(void *, void *, void *, va_list, void *);                         \
    LIST(name, c, void *a, void *b, void *c)

ONE(printf) ONE(scanf) ONE(__isoc99_scanf) ONE(__isoc23_scanf)
ONE(wprintf) ONE(wscanf) ONE(__isoc99_wscanf) ONE(__isoc23_wscanf)
TWO(fprintf) TWO(dprintf) TWO(__printf_chk) TWO(fscanf) TWO(__isoc99_fscanf) TWO(__isoc23_fscanf)
TWO(fwprintf) TWO(__wprintf_chk) TWO(fwscanf) TWO(__isoc99_fwscanf) TWO(__isoc23_fwscanf)
THREE(__fprintf_chk) THREE(__dprintf_chk) THREE(__fwprintf_chk)

/* The exec functions whose arguments are a list with a null at its end, and behind it for execle the
 * environment: they become a row on the stack, as in libc, and go on as the exec that takes one. */
#define EXEC(name, ENVIRONMENT)                                                                    \
    extern int netra_list_##name(const char *, void **, void **, void *);                          \
    int netra_variadic_##name(const char *path, void *first, ...) {                                \
        va_list list;                                                                              \
        long count = 0;                                                                            \
        va_start(list, first);                                                                     \
        for (void *next = first; next; next = va_arg(list, void *))                                \
            count++;                                                                               \
        va_end(list);                                                                              \
        void *row[count + 1];                                                                      \
        row[0] = first;                                                                            \
        va_start(list, first);                                                                     \
        for (long at = 1; at <= count; at++)                                                       \
            row[at] = va_arg(list, void *);                                                        \
        void **environment = ENVIRONMENT;                                                          \
        va_end(list);                                                                              \
        return netra_list_##name(path, row, environment, SITE);                                    \
    }

EXEC(execl, 0) EXEC(execlp, 0) EXEC(execle, va_arg(list, void **))
