/* A program of another C library (musl): the loader takes our library, every hook leads on to that library's own
 * function, and nothing is recorded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *beside(void *nothing) {
    FILE *file = fopen("musl.txt", "w");
    for (int i = 0; i < 100; i++)
        fprintf(file, "%d %s %.2f\n", i, "word", i / 4.0);
    return (void *)(long)fclose(file);
}

static void at_end(void) { puts("handler ran"); }

int main(int count, char **words) {
    char bytes[100] = {0}, word[9];
    if (count > 1) {
        printf("again: %zd\n", read(0, bytes, 0));
        return 4;
    }
    int fd = open("musl.dat", O_CREAT | O_RDWR | O_TRUNC, 0600);
    printf("moved %zd %zd", write(fd, bytes, 100), pread(fd, bytes, 50, 3));
    struct stat facts;
    printf(", stat %d, size %ld\n", fstat(fd, &facts), (long)facts.st_size);
    errno = 0;
    printf("absent: %d", open("/nonexistent", O_RDONLY));
    printf(", errno %d\n", errno);
    pthread_t thread;
    void *closed;
    pthread_create(&thread, 0, beside, 0);
    pthread_join(thread, &closed);
    FILE *file = fopen("musl.txt", "r");
    int number, sum = 0;
    float quarter;
    while (fscanf(file, "%d %8s %f", &number, word, &quarter) == 3)
        sum += number;
    printf("sum %d, closed %ld %d\n", sum, (long)closed, fclose(file));
    printf("syscall: %d\n", syscall(SYS_getpid) == getpid());
    jmp_buf back;
    if (!setjmp(back))
        longjmp(back, 1);
    int status;
    pid_t child = vfork();
    if (!child) {
        execl(words[0], words[0], "again", (char *)0);
        _exit(9);
    }
    waitpid(child, &status, 0);
    printf("child: %d\n", WEXITSTATUS(status));
    child = fork();
    if (!child)
        _exit(5);
    waitpid(child, &status, 0);
    printf("fork: %d, system: %d\n", WEXITSTATUS(status), system("exit 3") >> 8);
    FILE *pipe = popen("echo from a shell", "r");
    char line[40];
    printf("%s", fgets(line, 40, pipe));
    pclose(pipe);
    printf("map: %d\n", mmap(0, 100, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    atexit(at_end);
    return 3;
}
