/* A new image under a filter of which it knows nothing: it kills for what netra would ask the kernel to set a
 * process up and the loader never asks, and for opening anything to write. The image reads, writes and
 * ends; it goes unrecorded. Its parent is recorded. With the word "harmless" the filter kills for nothing that
 * anybody does, and the image is recorded, where the environment can tell it. */
#include "expect.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define KILL(name)                                                                                 \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter steps[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    KILL(madvise), KILL(getpid), KILL(getppid), KILL(getuid), KILL(geteuid), KILL(gettid), KILL(getsid),
    KILL(uname), KILL(ftruncate), KILL(mkdirat), KILL(prctl), KILL(sysinfo), KILL(sched_getaffinity),
    KILL(sigaltstack), KILL(getcwd), KILL(statx), KILL(readlinkat), KILL(fcntl), KILL(getdents64),
    KILL(process_vm_readv), KILL(clock_gettime), KILL(statfs), KILL(unlinkat), KILL(renameat2),
    KILL(pwrite64), KILL(sched_yield),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};

static struct sock_filter harmless_steps[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), KILL(personality),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static struct sock_fprog harmless = {.len = sizeof harmless_steps / sizeof *harmless_steps,
                                     .filter = harmless_steps};

int main(int count, char **words) {
    char bytes[100];
    int is_harmless = count > 1 && !strcmp(words[1], "harmless");
    if (count > 1 && !is_harmless) {
        if (!strcmp(words[1], "known"))
            expect_posix("before.dat", 1, 1, 5, 1, 50);
        int fd = open("before.dat", O_RDONLY);
        long got = read(fd, bytes, 50), put = write(3, "below", 5);
        bytes[0] = '0' + (char)(got == 50) + (char)(put == 5) + (char)(close(fd) == 0);
        if (write(1, bytes, 1) != 1 || write(1, "\n", 1) != 1)
            return 9;
        return bytes[0] == '3' ? 8 : 7;
    }
    int fd = open("before.dat", O_RDWR | O_CREAT | O_TRUNC, 0644), status;
    must(fd == 3);
    write_times(fd, 2, 40);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || 
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, is_harmless ? &harmless : &filter))
            _exit(92);
        execl(words[0], words[0], is_harmless ? "known" : "image", (char *)0);
        _exit(93);
    }
    must(waitpid(child, &status, 0) == child);
    expect_posix("before.dat", 1, 2, 80, 0, 0);
    printf("exit %d signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
    return 0;
}
