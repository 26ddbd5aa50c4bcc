/* Ordinary I/O with a known answer; run where something around it is wrong: a full disk, a log or
 * segment directory that cannot be written, other libraries in LD_PRELOAD. */
#include "expect.h"

int main(void) {
    char bytes[1000];
    int fd = open("plain.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0);
    write_times(fd, 20, 500);
    must(fsync(fd) == 0);
    must(lseek(fd, 0, SEEK_SET) == 0);
    ssize_t got, reads = 0, sum = 0;
    do {
        got = read(fd, bytes, sizeof bytes);
        must(got >= 0);
        reads++;
        sum += got;
    } while (got > 0);
    must(close(fd) == 0);
    expect_posix("plain.dat", 1, 20, 10000, reads, sum);
    expect("plain.dat", "POSIX_SEEKS", 1);
    expect("plain.dat", "POSIX_FSYNCS", 1);
    expect("plain.dat", "POSIX_MODE", 0600);
    expect("plain.dat", "POSIX_RW_SWITCHES", 1);
    expect("plain.dat", "POSIX_MAX_BYTE_READ", 9999);
    expect("plain.dat", "POSIX_MAX_BYTE_WRITTEN", 9999);
    expect("plain.dat", "POSIX_SIZE_WRITE_100_1K", 20);
    expect("plain.dat", "POSIX_SIZE_READ_100_1K", 10);
    expect("plain.dat", "POSIX_SIZE_READ_0_100", 1);
    printf("read %zd bytes back in %zd calls\n", sum, reads);
    return 0;
}
