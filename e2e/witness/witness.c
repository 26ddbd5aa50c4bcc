/*
 * witness OUT [NAME=VALUE...] COMMAND...: runs a command and writes down what the kernel knows of each of its processes
 * when a program has been started in it, and when it ends: environment, descriptors, limits, rights,
 * signals, mappings, page faults. The process is stopped at these two moments and at no other.
 *
 * OUT is a list of blocks: a line `EVENT PROCESS VALUE`, then `field NAME LENGTH` lines each with so many bytes
 * and a line end behind it, then `end`.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *out;

static void field(const char *name, const char *bytes, size_t length) {
    fprintf(out, "field %s %zu\n", name, length);
    fwrite(bytes, 1, length, out);
    fputc('\n', out);
}

/* A file of /proc, whole. */
static void copy(int pid, const char *file) {
    static char bytes[8 << 20];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return;
    size_t have = 0;
    for (ssize_t got; have < sizeof bytes && (got = read(from, bytes + have, sizeof bytes - have)) > 0;) have += got;
    close(from);
    field(file, bytes, have);
}

static void link_of(int pid, const char *file) {
    char path[64], target[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    ssize_t length = readlink(path, target, sizeof target);
    if (length >= 0) field(file, target, length);
}

/* `descriptor target` and the kernel's facts about it. */
static void descriptors(int pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char name[300];
        snprintf(name, sizeof name, "fd/%s", entry->d_name);
        link_of(pid, name);
        snprintf(name, sizeof name, "fdinfo/%s", entry->d_name);
        copy(pid, name);
    }
    closedir(folder);
}

static int is_leader(int pid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "re");
    int group = pid;
    while (status && fgets(line, sizeof line, status)) if (sscanf(line, "Tgid: %d", &group) == 1) break;
    if (status) fclose(status);
    return group == pid;
}

static void state(int pid, int ends) {
    copy(pid, "cmdline");
    if (!ends) copy(pid, "environ");
    link_of(pid, "cwd");
    link_of(pid, "root");
    copy(pid, "limits");
    copy(pid, "status");
    copy(pid, "stat");
    copy(pid, "personality");
    copy(pid, "oom_score_adj");
    copy(pid, "timerslack_ns");
    if (ends) copy(pid, "smaps");
    descriptors(pid);
}

static void event(const char *name, int pid, unsigned long value) { fprintf(out, "%s %d %lu\n", name, pid, value); }

static void block(const char *name, int pid, unsigned long value, int ends) {
    event(name, pid, value);
    state(pid, ends);
    fprintf(out, "end\n");
}

static void on_alarm(int number) { (void)number; }

int main(int count, char **words) {
    if (count < 3) return 64;
    out = fopen(words[1], "we");
    int go[2];
    if (!out || pipe2(go, O_CLOEXEC)) return perror("witness"), 125;
    int root = fork();
    if (root == 0) {
        char byte;
        for (words += 2; *words && strchr(*words, '='); words++) putenv(*words);
        if (read(go[0], &byte, 1) != 1) _exit(125);
        execvp(*words, words);
        _exit(errno == ENOENT ? 127 : 126);
    }
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    if (ptrace(PTRACE_SEIZE, root, 0, options)) return perror("witness"), 125;
    if (write(go[1], "g", 1) != 1) return 125;
    close(go[0]), close(go[1]);
    event("root", root, 0);
    /* What outlives the command is given some seconds, and then left alone. */
    struct sigaction act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, 0);
    int ended = 0;
    for (;;) {
        int status, pid = waitpid(-1, &status, __WALL);
        if (pid < 0) break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            event(WIFEXITED(status) ? "exited" : "killed", pid, WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
            if (pid == root) ended = status, alarm(10);
            continue;
        }
        int signal = WSTOPSIG(status), what = status >> 16;
        unsigned long message = 0;
        ptrace(PTRACE_GETEVENTMSG, pid, 0, &message);
        if (what == PTRACE_EVENT_FORK) event("fork", pid, message);
        else if (what == PTRACE_EVENT_VFORK) event("vfork", pid, message);
        else if (what == PTRACE_EVENT_CLONE) event(is_leader(message) ? "clone" : "thread", pid, message);
        else if (what == PTRACE_EVENT_EXEC) block("exec", pid, message, 0);
        else if (what == PTRACE_EVENT_EXIT && is_leader(pid)) block("exit", pid, message, 1);
        if (what == PTRACE_EVENT_STOP) {
            int stops = signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
            ptrace(stops ? PTRACE_LISTEN : PTRACE_CONT, pid, 0, 0);
        } else {
            ptrace(PTRACE_CONT, pid, 0, what ? 0 : signal);
        }
    }
    fclose(out);
    if (WIFSIGNALED(ended)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(ended), SIG_DFL);
        raise(WTERMSIG(ended));
    }
    return WEXITSTATUS(ended);
}
