/* popen and pclose: a stream without a file name; its descriptor goes back without close. */
#include "expect.h"

int main(void) {
    char line[64];
    FILE *stream = popen("echo from a shell", "r");
    must(stream && fgets(line, sizeof line, stream) == line);
    fputs(line, stdout);
    printf("pclose gave %d\n", WEXITSTATUS(pclose(stream)));
    int fd = open("after.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 2, 3);
    expect_posix("after.dat", 1, 2, 6, 0, 0);
    return 0;
}
