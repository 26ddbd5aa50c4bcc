/* A program whose one thread does little but copy inside the kernel: reading and writing together take no longer than
 * it ran. */
#include "expect.h"
#include <sys/sendfile.h>

#define BYTES (8L << 20)
#define TIMES 20

int main(void) {
    int from = open("from.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int to = open("to.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(from >= 0 && to >= 0);
    write_times(from, BYTES / 65536, 65536);
    long copied = 0, calls = 0;
    while (copied < TIMES * BYTES) {
        loff_t first = copied % BYTES, second = first;
        ssize_t done = copy_file_range(from, &first, to, &second, (size_t)(BYTES - first), 0);
        must(done > 0);
        copied += done;
        calls++;
    }
    long sent = 0;
    must(lseek(to, 0, SEEK_SET) == 0);
    while (sent < BYTES) {
        off_t first = sent;
        ssize_t done = sendfile(to, from, &first, (size_t)(BYTES - sent));
        must(done > 0);
        sent += done;
        calls++;
    }
    must(close(from) == 0 && close(to) == 0);
    expect_posix("from.dat", 1, BYTES / 65536, BYTES, calls, copied + sent);
    expect_posix("to.dat", 1, calls, copied + sent, 0, 0);
    expect("to.dat", "POSIX_SEEKS", 1);
    return 0;
}
