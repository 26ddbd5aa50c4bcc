/* A process that forbids itself calls of the kernel (seccomp), in all the ways there are, and does its I/O
 * by those that are left. Nothing that it did not do itself may be done in it: the filters kill. Every
 * worker is a child that has to come back with the status it chose. */
#include "expect.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#define PROCESSOR AUDIT_ARCH_X86_64
#else
#define PROCESSOR AUDIT_ARCH_AARCH64
#endif
#define ALLOW(name)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define HEAD                                                                                       \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                       \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROCESSOR, 1, 0),                                      \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                       \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define PROGRAM(steps) {.len = sizeof steps / sizeof *steps, .filter = steps}

static struct sock_filter few[] = {HEAD, ALLOW(read), ALLOW(write), ALLOW(pread64), ALLOW(exit),
                                   ALLOW(exit_group), ALLOW(rt_sigreturn),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
/* As few, with opening files; what is not listed fails. */
static struct sock_filter failing[] = {HEAD, ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(openat),
                                       ALLOW(exit_group),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY)};
/* All but one are allowed. */
static struct sock_filter lenient[] = {HEAD, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 1),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

static struct sock_fprog few_calls = PROGRAM(few), failing_calls = PROGRAM(failing),
                         lenient_calls = PROGRAM(lenient);

/* The I/O of a worker: ten writes and five reads at the start of a file that its parent opened. */
static void work(int fd) {
    char bytes[100] = {0};
    for (int i = 0; i < 10; i++)
        if (write(fd, bytes, 50) != 50)
            bare_syscall(SYS_exit, 90, 0, 0, 0);
    for (int i = 0; i < 5; i++)
        if (pread(fd, bytes, 20, i) != 20)
            bare_syscall(SYS_exit, 91, 0, 0, 0);
}

static void install(int how) {
    int done = 0;
    switch (how) {
    case 0: done = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &few_calls); break;
    case 1: done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &few_calls); break;
    case 2: done = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &few_calls, 0, 0); break;
    case 3: done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &few_calls); break;
    }
    if (done)
        bare_syscall(SYS_exit, 92, 0, 0, 0);
}

static int come[2], go[2];

/* A thread that is at work while another one puts all of them into the sandbox. */
static void *beside(void *given) {
    char byte;
    int fd = *(int *)given;
    if (write(fd, "a", 1) != 1 || write(come[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
        bare_syscall(SYS_exit_group, 93, 0, 0, 0);
    for (int i = 0; i < 20; i++)
        if (write(fd, "b", 1) != 1)
            bare_syscall(SYS_exit_group, 94, 0, 0, 0);
    if (write(come[1], "x", 1) != 1)
        bare_syscall(SYS_exit_group, 95, 0, 0, 0);
    for (;;)
        if (read(go[0], &byte, 1) != 1)
            bare_syscall(SYS_exit_group, 96, 0, 0, 0);
}

static void worker(const char *what, int how, int moved_before) {
    char name[32];
    snprintf(name, sizeof name, "%s.%d.dat", what, how * 2 + moved_before);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    must(pipe(come) == 0 && pipe(go) == 0);
    fflush(stdout);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        if (moved_before)
            work(fd);
        expect(name, "POSIX_WRITES", moved_before ? 20 : 10);
        expect(name, "POSIX_BYTES_WRITTEN", moved_before ? 1000 : 500);
        if (how == 4) {
            expect(name, "POSIX_READS", moved_before ? 5 : 0);
            expect(name, "POSIX_BYTES_READ", moved_before ? 100 : 0);
            must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
            char bytes[100] = {0};
            for (int i = 0; i < 10; i++)
                if (write(fd, bytes, 50) != 50)
                    bare_syscall(SYS_exit, 90, 0, 0, 0);
            syscall(SYS_exit, 5);
        }
        expect(name, "POSIX_READS", moved_before ? 10 : 5);
        expect(name, "POSIX_BYTES_READ", moved_before ? 200 : 100);
        must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        pthread_t thread;
        char byte;
        if (how == 3) {
            expect(name, "POSIX_WRITES", 21);
            expect(name, "POSIX_BYTES_WRITTEN", 21);
            must(pthread_create(&thread, 0, beside, &fd) == 0);
            must(read(come[0], &byte, 1) == 1);
        }
        install(how);
        if (how == 3 && (write(go[1], "x", 1) != 1 || read(come[0], &byte, 1) != 1))
            bare_syscall(SYS_exit_group, 97, 0, 0, 0);
        work(fd);
        if (moved_before)
            _exit(5);
        syscall(SYS_exit_group, 5);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    expect(name, "POSIX_OPENS", 1);
    close(fd);
    for (int i = 0; i < 2; i++)
        close(come[i]), close(go[i]);
    printf("%s %d %d: exit %d signal %d\n", what, how, moved_before, WEXITSTATUS(status), WTERMSIG(status));
}

/* A stream whose position libc does not know yet: it would have to ask the kernel for it. */
static void stream(void) {
    FILE *file = fopen("stream.txt", "w");
    for (int i = 0; i < 10; i++)
        fprintf(file, "%d\n", i);
    must(fclose(file) == 0);
    fflush(stdout);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        int number, sum = 0;
        FILE *lines = fopen("stream.txt", "r");
        if (!lines || fgetc(lines) != '0' || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
            _exit(90);
        expect("stream.txt", "STDIO_OPENS", 1);
        expect("stream.txt", "STDIO_READS", 10);
        expect("stream.txt", "STDIO_BYTES_READ", ANY);
        install(0);
        while (fscanf(lines, "%d", &number) == 1)
            sum += number;
        syscall(SYS_exit_group, sum);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    expect_stdio("stream.txt", 1, 10, 20, 0, 0);
    printf("stream: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}

/* A filter that makes calls fail: opening works, what netra would ask about it does not; and errno is that
 * of the application's own calls. */
static void fails(void) {
    fflush(stdout);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        int first = open("failing.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
        expect_posix("failing.dat", 1, 2, 20, 0, 0);
        char inside[600];
        must(getcwd(inside, sizeof inside) && strlen(inside) < 500);
        strcat(inside, "/inside.dat");
        expect_posix("inside.dat", 1, 1, 10, 0, 0);
        must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &failing_calls))
            _exit(92);
        if (write(first, "0123456789", 10) != 10 || write(first, "0123456789", 10) != 10)
            _exit(90);
        int fd = open(inside, O_WRONLY | O_CREAT, 0644);
        if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd))
            _exit(91);
        errno = 0;
        if (lseek(first, 0, SEEK_SET) != -1 || errno != ENOTTY)
            _exit(93);
        _exit(6);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    printf("failing: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}

/* A filter that is refused changes nothing; one that forbids what nobody does costs no record, and children
 * have theirs. */
static void harmless(void) {
    struct sock_filter wrong[] = {BPF_STMT(0xffff, 0)};
    struct sock_fprog wrong_calls = PROGRAM(wrong);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &wrong_calls) == -1 && errno == EINVAL);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0) == -1 && errno == EFAULT);
    must(prctl(PR_SET_SECCOMP, 77, 0) == -1 && errno == EINVAL);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &lenient_calls) == 0);
    int fd = open("harmless.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 7, 11);
    fflush(stdout);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        write_times(fd, 3, 11);
        expect_posix("harmless.dat", 0, 3, 33, 0, 0);
        exit(7);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    expect_posix("harmless.dat", 1, 7, 77, 0, 0);
    must(syscall(SYS_personality, 0xffffffff) == -1 && errno == EPERM);
    printf("harmless: exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
}

int main(void) {
    for (int moved_before = 0; moved_before < 2; moved_before++) {
        for (int how = moved_before; how < 3; how += 1 + moved_before)
            worker("filter", how, moved_before);
        if (moved_before)
            worker("threads", 3, moved_before);
        worker("strict", 4, moved_before);
    }
    stream();
    fails();
    harmless();
    return 0;
}
