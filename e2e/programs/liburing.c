/* io_uring through liburing, which calls the kernel past libc: rings, submissions and waits are counted;
 * what they move passes by. */
#include "expect.h"
#include <liburing.h>

int main(void) {
    struct io_uring ring;
    static char bytes[4096];
    int made = io_uring_queue_init(8, &ring, 0);
    expect_calls("io_uring_setup", 1);
    if (made < 0) {
        printf("a ring was refused: %s\n", strerror(-made));
        return 0;
    }
    int fd = open("ring.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    for (int i = 0; i < 5; i++) {
        struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
        io_uring_prep_write(entry, fd, bytes, sizeof bytes, (unsigned long)i * sizeof bytes);
        must(io_uring_submit(&ring) == 1);
        struct io_uring_cqe *done;
        /* Taken from the ring without a call where it is already there. */
        must(__io_uring_get_cqe(&ring, &done, 0, 1, NULL) == 0 && done->res == (int)sizeof bytes);
        io_uring_cqe_seen(&ring, done);
    }
    struct io_uring_cqe *both[2];
    for (int i = 0; i < 2; i++)
        io_uring_prep_read(io_uring_get_sqe(&ring), fd, bytes, 100, 0);
    must(io_uring_submit_and_wait(&ring, 2) == 2);
    must(io_uring_peek_batch_cqe(&ring, both, 2) == 2);
    printf("read %d and %d bytes\n", both[0]->res, both[1]->res);
    io_uring_cq_advance(&ring, 2);
    io_uring_queue_exit(&ring);
    must(close(fd) == 0);
    expect_posix("ring.dat", 1, 0, 0, 0, 0);
    expect_calls("io_uring_submit", 6);
    expect_calls("io_uring_wait_cqe", 6);
    return 0;
}
