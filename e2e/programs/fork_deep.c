/* fork inside a child of fork, and a child that outlives its parent: four processes, four logs. */
#include "expect.h"

int main(void) {
    int fd = open("deep.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    int depth = 0;
    while (depth < 3) {
        pid_t child = fork();
        must(child >= 0);
        if (child != 0) {
            int status;
            must(waitpid(child, &status, 0) == child);
            break;
        }
        depth++;
    }
    write_times(fd, depth + 1, 10);
    expect_posix("deep.dat", depth == 0, depth + 1, 10 * (depth + 1), 0, 0);
    if (depth == 0)
        printf("three generations\n");
    return 0;
}
