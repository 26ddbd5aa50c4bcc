/* Started with 0, 1 and 2 closed: the first files get these numbers, and nothing of netra may land
 * in them. The program closes them, runs itself again and looks at its files afterwards. */
#include "expect.h"

static int without_stdio(void) {
    for (int i = 0; i < 3; i++) {
        char name[] = "zero.dat\0one.dat\0\0two.dat";
        int fd = open(name + 9 * i, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (fd != i)
            _exit(90 + i);
        write_times(fd, i + 1, 10);
        expect_posix(name + 9 * i, 1, i + 1, 10 * (i + 1), 0, 0);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        return without_stdio();
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        close_range(0, ~0U, 0);
        execl("/proc/self/exe", program_invocation_short_name, "again", (char *)NULL);
        _exit(89);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    printf("child ended with %d\n", WEXITSTATUS(status));
    const char *names[] = {"zero.dat", "one.dat", "two.dat"};
    for (int i = 0; i < 3; i++) {
        struct stat facts;
        must(stat(names[i], &facts) == 0);
        expect(names[i], "POSIX_STATS", 1);
        printf("%s has %lld bytes\n", names[i], (long long)facts.st_size);
    }
    return arguments[0] == NULL;
}
