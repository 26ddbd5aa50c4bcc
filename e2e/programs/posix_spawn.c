/* posix_spawn, system and popen: libc makes the child with its own inner calls; file actions work
 * on our descriptors, and the parent's counters stay its own. */
#include "expect.h"
#include <spawn.h>

extern char **environ;

int main(void) {
    int fd = open("spawned.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1, 10);
    posix_spawn_file_actions_t actions;
    must(posix_spawn_file_actions_init(&actions) == 0);
    must(posix_spawn_file_actions_adddup2(&actions, fd, 1) == 0);
    must(posix_spawn_file_actions_addclose(&actions, fd) == 0);
    char *arguments[] = {"sh", "-c", "echo from the child", NULL};
    pid_t child;
    must(posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ) == 0);
    int status;
    must(waitpid(child, &status, 0) == child);
    printf("spawned child ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    printf("system gave %d\n", WEXITSTATUS(system("exit 4")));
    write_times(fd, 2, 10);
    must(close(fd) == 0);
    char *lost[] = {"lost", NULL};
    must(posix_spawnp(&child, "netra-e2e-no-such", NULL, NULL, lost, environ) == ENOENT);
    expect_posix("spawned.dat", 1, 3, 30, 0, 0);
    expect_calls("posix_spawn", 2);
    expect_calls("system", 1);
    return 0;
}
