/* Pipes, sockets and eventfds have no name: they work, and have no record. */
#include "expect.h"
#include <sys/eventfd.h>
#include <sys/socket.h>

int main(void) {
    char bytes[16] = {0};
    int ends[2], pair[2], event = eventfd(0, 0);
    unsigned long one = 1;
    must(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && event >= 0);
    for (int i = 0; i < 100; i++) {
        must(write(ends[1], bytes, 16) == 16 && read(ends[0], bytes, 16) == 16);
        must(write(pair[0], bytes, 16) == 16 && read(pair[1], bytes, 16) == 16);
        must(write(event, &one, 8) == 8 && read(event, &one, 8) == 8);
    }
    int fd = open("named.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write_times(fd, 2, 5);
    must(dup2(fd, ends[0]) == ends[0]);
    write_times(ends[0], 1, 5);
    must(dup2(pair[0], fd) == fd);
    write_times(fd, 1, 5);
    expect_posix("named.dat", 2, 3, 15, 0, 0);
    expect("named.dat", "POSIX_DUPS", 1);
    printf("600 calls without a name\n");
    return 0;
}
