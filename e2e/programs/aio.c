/* POSIX asynchronous I/O: counted when the result is taken, or for lio_listio when it waits. */
#include "expect.h"
#include <aio.h>

static ssize_t finish(struct aiocb *request) {
    const struct aiocb *list[1] = {request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return aio_return(request);
}

int main(void) {
    static char bytes[100], back[100];
    int fd = open("aio.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    struct aiocb write_one = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 100};
    must(aio_write(&write_one) == 0 && finish(&write_one) == 100);
    struct aiocb read_one = {.aio_fildes = fd, .aio_buf = back, .aio_nbytes = 100};
    must(aio_read(&read_one) == 0 && finish(&read_one) == 100);
    struct aiocb more[2] = {
        {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 50, .aio_offset = 100, .aio_lio_opcode = LIO_WRITE},
        {.aio_fildes = fd, .aio_buf = back, .aio_nbytes = 50, .aio_offset = 0, .aio_lio_opcode = LIO_READ}};
    struct aiocb *list[2] = {&more[0], &more[1]};
    must(lio_listio(LIO_WAIT, list, 2, NULL) == 0);
    must(aio_return(&more[0]) == 50 && aio_return(&more[1]) == 50);
    struct aiocb wrong = {.aio_fildes = 99, .aio_buf = bytes, .aio_nbytes = 1};
    must(aio_write(&wrong) == 0);
    while (aio_error(&wrong) == EINPROGRESS)
        ;
    printf("aio_error: %s, aio_return: %zd\n", strerror(aio_error(&wrong)), aio_return(&wrong));
    expect_posix("aio.dat", 1, 2, 150, 2, 150);
    return 0;
}
