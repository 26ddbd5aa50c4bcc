/* Bytes that go from file to file inside the kernel: a read of the one, a write of the other. */
#include "expect.h"
#include <sys/ioctl.h>
#include <sys/sendfile.h>

int main(void) {
    int from = open("from.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int to = open("to.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int ends[2];
    must(from >= 0 && to >= 0 && pipe(ends) == 0);
    write_times(from, 10, 100);
    off_t start = 0;
    loff_t zero = 0;
    must(copy_file_range(from, &zero, to, NULL, 300, 0) == 300);
    must(sendfile(to, from, &start, 200) == 200);
    must(lseek(from, 0, SEEK_SET) == 0);
    must(splice(from, NULL, ends[1], NULL, 400, 0) == 400);
    must(splice(ends[0], NULL, to, NULL, 400, 0) == 400);
    must(copy_file_range(from, NULL, 99, NULL, 300, 0) == -1);
    printf("copy_file_range: %s\n", strerror(errno));
    struct stat facts;
    must(fstat(to, &facts) == 0);
    printf("to.dat has %lld bytes\n", (long long)facts.st_size);
    expect_posix("from.dat", 1, 10, 1000, 3, 900);
    expect("from.dat", "POSIX_SEEKS", 1);
    expect_posix("to.dat", 1, 3, 900, 0, 0);
    expect("to.dat", "POSIX_STATS", 1);
    expect_calls("copy_file_range", 2);
    expect_calls("copy_file_range_to", 1);
    expect_calls("sendfile", 1);
    expect_calls("sendfile_to", 1);
    expect_calls("splice", 2);
    expect_calls("splice_to", 1);
    return 0;
}
