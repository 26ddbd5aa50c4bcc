/* A small process: opens a file, writes ten times, closes it. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char bytes[64] = {0};
    int fd = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 10; i++)
        if (write(fd, bytes, sizeof bytes) != sizeof bytes) return 1;
    return close(fd);
}
