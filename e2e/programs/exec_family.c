/* Every way to replace the image: arguments and environment arrive, also through the variadic ones,
 * and the old image's records survive. Each child writes, says what it did, and becomes a shell. */
#include "expect.h"

#define SCRIPT "echo \"$0 $1 $2 E2E_VALUE=$E2E_VALUE\""
#define LIST "sh", "-c", SCRIPT, name, "two words", "last", (char *)NULL

static void become(const char *name) {
    char *row[] = {"sh", "-c", SCRIPT, (char *)name, "two words", "last", NULL};
    char *environment[] = {"E2E_VALUE=given", NULL};
    if (!strcmp(name, "execl"))
        execl("/bin/sh", LIST);
    else if (!strcmp(name, "execlp"))
        execlp("sh", LIST);
    else if (!strcmp(name, "execle"))
        execle("/bin/sh", LIST, environment);
    else if (!strcmp(name, "execv"))
        execv("/bin/sh", row);
    else if (!strcmp(name, "execvp"))
        execvp("sh", row);
    else if (!strcmp(name, "execve"))
        execve("/bin/sh", row, environment);
    else if (!strcmp(name, "execvpe"))
        execvpe("sh", row, environment);
    else if (!strcmp(name, "fexecve"))
        fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), row, environment);
    else if (!strcmp(name, "execveat"))
        execveat(AT_FDCWD, "/bin/sh", row, environment, 0);
    must(!"exec returned");
}

int main(void) {
    static const char *names[] = {"execl",  "execlp",  "execle",  "execv",   "execvp",
                                  "execve", "execvpe", "fexecve", "execveat"};
    must(setenv("E2E_VALUE", "inherited", 1) == 0);
    must(execl("/there/is/no/such", "such", (char *)NULL) == -1);
    printf("execl: %s\n", strerror(errno));
    must(execle("/there/is/no/such", "such", (char *)NULL, names) == -1 && errno == ENOENT);
    must(execlp("netra-e2e-no-such", "such", (char *)NULL) == -1 && errno == ENOENT);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int fd = open("became.dat", O_RDWR | O_CREAT | O_APPEND, 0644);
            must(fd >= 0);
            write_times(fd, 3, 10);
            expect_posix("became.dat", 1, 3, 30, 0, 0);
            expect_calls("execve", 1);
            become(names[i]);
        }
        int status;
        must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    expect_calls("execve", 3);
    return 0;
}
