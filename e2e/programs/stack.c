/* Call stacks without frame pointers: a write far down, in a thread, below a frame of unusual
 * alignment, in a callback of libc, in a library that came later (the same source again) or in a
 * signal handler. Before it the compiler's own unwinder is
 * asked, and what it says is printed: the file, then the frames from the caller of the function that
 * writes outwards. */
#include "expect.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>

#define APART __attribute__((noinline, noclone))
static volatile int sink;

static void say(const char *name, void **frames, int count) {
    char text[2000], *end = text;
    expect_text(&end, name);
    for (int i = 1; i < count; i++) {
        expect_text(&end, " ");
        expect_number(&end, (long)frames[i]);
    }
    expect_text(&end, "\n");
    bare_syscall(SYS_write, 1, (long)text, end - text, 0);
}

APART static void put(const char *name) {
    void *frames[64];
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    say(name, frames, backtrace(frames, 64));
    must(write(fd, "x", 1) == 1);
    sink++;
}

APART void low(const char *name, int depth) {
    volatile char room[37 + 16 * (depth % 3)];
    room[0] = 1;
    if (depth)
        low(name, depth - 1);
    else
        put(name);
    sink += room[0];
}

APART static void aligned(void) {
    _Alignas(64) volatile char room[64] = {0};
    volatile char more[(sink & 7) + 8];
    more[0] = 1;
    put("aligned.dat");
    sink += room[0] + more[0];
}

static void *thread(void *unused) {
    low("thread.dat", 2);
    return unused;
}

static int compare(const void *a, const void *b) {
    static int once;
    if (!once++)
        put("callback.dat");
    return *(const int *)a - *(const int *)b;
}

static void handler(int signal) {
    (void)signal;
    put("handler.dat");
}

/* The argument says which one: a call site keeps the stack of its first call. */
int main(int count, char **arguments) {
    int numbers[] = {3, 1, 2};
    pthread_t other;
    void *warm[4];
    must(count >= 2);
    backtrace(warm, 4);
    signal(SIGUSR1, handler);
    switch (arguments[1][0]) {
    case 'd':
        low("deep.dat", 20);
        break;
    case 'a':
        aligned();
        break;
    case 'c':
        qsort(numbers, 3, sizeof *numbers, compare);
        break;
    case 't':
        must(pthread_create(&other, NULL, thread, NULL) == 0 && pthread_join(other, NULL) == 0);
        break;
    case 'l': {
        void *loaded = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
        must(loaded);
        ((void (*)(const char *, int))dlsym(loaded, "low"))("library.dat", 3);
        break;
    }
    case 'h':
        raise(SIGUSR1);
        break;
    }
    bare_syscall(SYS_kill, bare_syscall(SYS_getpid, 0, 0, 0, 0), SIGKILL, 0, 0);
    return 0;
}
