/* The kernel's asynchronous I/O, through libaio and through syscall(): a transfer counts when its result is taken,
 * with what it moved, whatever has become of the request and of the descriptor; what is not taken, or
 * refused, does not count. */
#include "expect.h"
#include <libaio.h>
#include <sys/uio.h>

#define TIMES 100

static char bytes[8192] __attribute__((aligned(4096)));
static int by_number;

static int submit(io_context_t context, long count, struct iocb **list) {
    if (!by_number)
        return io_submit(context, count, list);
    long done = syscall(SYS_io_submit, context, count, list);
    return done < 0 ? -errno : (int)done;
}

static int reap(io_context_t context, long least, long most, struct io_event *events) {
    if (!by_number)
        return io_getevents(context, least, most, events, NULL);
    return (int)syscall(SYS_io_getevents, context, least, most, events, NULL);
}

/* Takes so many results; what they moved, or the first error. */
static long finish(io_context_t context, int count) {
    struct io_event events[16];
    long sum = 0;
    must(reap(context, count, 16, events) == count);
    for (int i = 0; i < count; i++) {
        if ((long)events[i].res < 0)
            return (long)events[i].res;
        sum += (long)events[i].res;
    }
    return sum;
}

static void transfers(const char *name) {
    io_context_t context = NULL;
    struct iocb one, two, three, *list[3] = {&one, &two, &three};
    struct iovec parts[2] = {{bytes, 1000}, {bytes + 1000, 500}};
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && io_setup(32, &context) == 0);
    for (int i = 0; i < TIMES; i++) {
        io_prep_pwrite(&one, fd, bytes, 4096, i * 4096L);
        must(submit(context, 1, list) == 1);
        /* The kernel has its own copy. */
        memset(&one, 0xff, sizeof one);
        must(finish(context, 1) == 4096);
    }
    io_prep_pread(&one, fd, bytes, 100, 0);
    io_prep_pread(&two, fd, bytes + 4096, 4096, TIMES * 4096L - 96);
    io_prep_preadv(&three, fd, parts, 2, 0);
    must(submit(context, 3, list) == 3 && finish(context, 3) == 100 + 96 + 1500);
    io_prep_pwritev(&one, fd, parts, 2, TIMES * 4096L);
    must(submit(context, 1, list) == 1 && finish(context, 1) == 1500);
    io_prep_fsync(&one, fd);
    io_prep_fdsync(&two, fd);
    must(submit(context, 2, list) == 2 && finish(context, 2) == 0);
    /* The second one is refused: its descriptor is none. */
    io_prep_pread(&one, fd, bytes, 100, 0);
    io_prep_pread(&two, 99, bytes, 100, 0);
    int accepted = submit(context, 2, list);
    printf("accepted %d of 2, then %s\n", accepted, strerror(-submit(context, 1, list + 1)));
    /* The same request twice, and a descriptor that is closed before the result is taken. */
    io_prep_pwrite(&three, fd, bytes, 10, TIMES * 4096L + 1500);
    must(submit(context, 1, list + 2) == 1 && submit(context, 1, list + 2) == 1);
    must(close(fd) == 0);
    int other = open("other.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(other == fd && finish(context, 3) == 120);
    /* Nothing at these addresses, or none: the kernel says so. */
    struct iocb *nothing[1] = {NULL};
    printf("null: %s\n", strerror(-submit(context, 1, nothing)));
    printf("list: %s\n", strerror(-submit(context, 1, (struct iocb **)-1L)));
    printf("count: %s\n", strerror(-submit(context, -1, list)));
    must(close(other) == 0 && io_destroy(context) == 0);
    expect_posix(name, 1, TIMES + 1 + 2, TIMES * 4096L + 1500 + 20, 4, 100 + 96 + 1500 + 100);
    expect(name, "POSIX_FSYNCS", 1);
    expect(name, "POSIX_FDSYNCS", 1);
    expect(name, "POSIX_MAX_BYTE_WRITTEN", TIMES * 4096L + 1500 + 9);
    expect("other.dat", "POSIX_OPENS", 1);
    expect_calls("io_submit", TIMES + 1 + 1 + 1 + 2 + 2 + 3);
    expect_calls("io_getevents", TIMES + 1 + 1 + 1 + 1);
    expect_calls("io_destroy", 1);
    expect_calls("async_write", TIMES + 1 + 2);
    expect_calls("async_read", 4);
    expect_calls("async_sync", 2);
}

/* Transfers whose results nobody takes: the submission alone counts. */
static void left(void) {
    io_context_t context = NULL;
    struct iocb one, *list[1] = {&one};
    int fd = open("left.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0 && io_setup(8, &context) == 0);
    io_prep_pwrite(&one, fd, bytes, 4096, 0);
    must(submit(context, 1, list) == 1 && io_destroy(context) == 0 && close(fd) == 0);
    expect_posix("left.dat", 1, 0, 0, 0, 0);
    expect_calls("io_submit", 1);
    expect_calls("io_destroy", 1);
    expect_calls("<notes>", 1);
}

int main(int count, char **arguments) {
    transfers("through.dat");
    by_number = 1;
    transfers("number.dat");
    if (count > 1 && strcmp(arguments[1], "left") == 0)
        left();
    expect_calls("<notes>", 0);
    expect_none_inside();
    return 0;
}
