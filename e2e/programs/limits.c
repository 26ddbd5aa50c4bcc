/* A ladder of limits on memory: in every step an image that just fits, or does not, writes and takes its memory,
 * before or after its first write, alone, with threads, or in a child. Netra takes so little of what a limit
 * leaves that each step ends as without it. Arguments: as or data, tight or wide; where there is room, every
 * image is recorded. */
#include "expect.h"
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { NEED = 200, THREADS = 4, STACK = 8 };
static int fd;

static void *writes(void *none) {
    write_times(fd, 25, 100);
    return NULL;
}

static const char *step(const char *how, const char *file) {
    int late = strchr(how, 'l') != NULL, threads = strchr(how, 't') != NULL, fork_it = strchr(how, 'f') != NULL;
    mallopt(M_ARENA_MAX, 1);
    char *memory = late ? NULL : malloc((size_t)NEED << 20);
    if (!late && !memory)
        return "no memory before the first write";
    fd = open(file, O_RDWR | O_CREAT | O_APPEND, 0644);
    if (fd < 0)
        return "no file";
    pthread_t all[THREADS];
    if (threads) {
        pthread_attr_t stack;
        pthread_attr_init(&stack);
        pthread_attr_setstacksize(&stack, STACK << 20);
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&all[i], &stack, writes, NULL) != 0)
                return "no thread";
    } else {
        write_times(fd, 100, 100);
    }
    if (fork_it) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            write_times(fd, 7, 10);
            if (atoi(getenv("WIDE")))
                expect_posix(file, 0, 7, 70, 0, 0);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return "no child";
    }
    if (late && !(memory = malloc((size_t)NEED << 20)))
        return "no memory after the first write";
    for (size_t at = 0; at < (size_t)NEED << 20; at += 1 << 20)
        memory[at] = 'x';
    for (int i = 0; threads && i < THREADS; i++)
        pthread_join(all[i], NULL);
    if (atoi(getenv("WIDE"))) {
        expect_posix(file, 1, 100, 10000, 0, 0);
        expect(file, "POSIX_STATS", 1);
    }
    struct stat facts;
    must(fstat(fd, &facts) == 0 && facts.st_size == (fork_it ? 10070 : 10000));
    return "fits";
}

int main(int count, char **arguments) {
    if (count == 4) {
        const char *said = step(arguments[1], arguments[2]);
        /* How far threads came where there is no room for all is up to chance. */
        if (strcmp(said, "fits") != 0)
            unlink(arguments[2]);
        printf("%s", said);
        return 0;
    }
    int resource = strcmp(arguments[1], "as") == 0 ? RLIMIT_AS : RLIMIT_DATA;
    int wide = strcmp(arguments[2], "wide") == 0;
    setenv("WIDE", wide ? "1" : "0", 1);
    /* MiB more than what is needed. */
    static const int tight[] = {-8, 0, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 0};
    static const int plenty[] = {320, 448, 640, 824, 0};
    static const char *hows[] = {"e", "l", "et", "lt", "ef", "lf"};
    for (int h = 0; h < 6; h++)
        for (const int *more = wide ? plenty : tight; *more || more == tight + 1; more++) {
            int threads = strchr(hows[h], 't') ? THREADS * STACK : 0;
            rlim_t limit = (rlim_t)(NEED + threads + *more) << 20;
            char file[40];
            sprintf(file, "step.%s.%d", hows[h], *more);
            fflush(stdout);
            pid_t child = fork();
            int status;
            if (child == 0) {
                struct rlimit both = {limit, limit};
                must(setrlimit(resource, &both) == 0);
                execl("/proc/self/exe", arguments[0], hows[h], file, "now", (char *)NULL);
                _exit(97);
            }
            must(child > 0 && waitpid(child, &status, 0) == child);
            printf(" (%s, %d MiB to spare, ended with %d)\n", hows[h], *more, status);
        }
    return 0;
}
