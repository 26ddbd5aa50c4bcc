/* Descriptors that share one open file description share its position; two opens do not. MAX_BYTE
 * and SEQ/CONSEC show where the bytes really went. */
#include "expect.h"

int main(void) {
    int fd = open("shared.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int copy = dup(fd);
    must(fd >= 0 && copy >= 0);
    for (int i = 0; i < 5; i++) {
        write_times(fd, 1, 100);
        write_times(copy, 1, 100);
    }
    must(lseek(copy, 0, SEEK_CUR) == 1000);
    expect_posix("shared.dat", 2, 10, 1000, 0, 0);
    expect("shared.dat", "POSIX_DUPS", 1);
    expect("shared.dat", "POSIX_SEEKS", 1);
    expect("shared.dat", "POSIX_MAX_BYTE_WRITTEN", 999);
    expect("shared.dat", "POSIX_SEQ_WRITES", 9);
    expect("shared.dat", "POSIX_CONSEC_WRITES", 9);

    int first = open("apart.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int second = open("apart.dat", O_RDWR);
    must(first >= 0 && second >= 0);
    write_times(first, 3, 100);
    write_times(second, 1, 100);
    expect_posix("apart.dat", 2, 4, 400, 0, 0);
    expect("apart.dat", "POSIX_MAX_BYTE_WRITTEN", 299);
    struct stat facts;
    must(fstat(first, &facts) == 0);
    expect("apart.dat", "POSIX_STATS", 1);
    printf("apart.dat has %lld bytes\n", (long long)facts.st_size);
    return 0;
}
