/* Sizes and advice: truncate, fallocate, fadvise, readahead, and the ways to flush. */
#include "expect.h"

int main(void) {
    int fd = open("sized.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    must(ftruncate(fd, 8192) == 0 && truncate("sized.dat", 4096) == 0);
    must(posix_fallocate(fd, 0, 16384) == 0);
    must(fallocate(fd, FALLOC_FL_KEEP_SIZE, 16384, 4096) == 0);
    must(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
    must(readahead(fd, 0, 4096) == 0);
    must(fsync(fd) == 0 && fdatasync(fd) == 0 && fdatasync(fd) == 0);
    must(sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE) == 0 && syncfs(fd) == 0);
    must(posix_fallocate(99, 0, 1) == EBADF);
    must(ftruncate(99, 0) == -1);
    printf("ftruncate: %s\n", strerror(errno));
    expect("sized.dat", "POSIX_OPENS", 1);
    expect("sized.dat", "POSIX_FSYNCS", 1);
    expect("sized.dat", "POSIX_FDSYNCS", 2);
    expect_calls("ftruncate", 2);
    expect_calls("truncate", 1);
    expect_calls("posix_fallocate", 2);
    expect_calls("fallocate", 1);
    expect_calls("posix_fadvise", 1);
    expect_calls("readahead", 1);
    expect_calls("sync_file_range", 1);
    expect_calls("syncfs", 1);
    return 0;
}
