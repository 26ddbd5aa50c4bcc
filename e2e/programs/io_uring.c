/* io_uring without liburing: set up and entered through syscall(). Its reads and writes pass by;
 * that it is used is counted. */
#include "expect.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

int main(void) {
    unsigned parameters[30] = {0};
    long ring = syscall(SYS_io_uring_setup, 8, parameters);
    long made = ring >= 0;
    long entered = syscall(SYS_io_uring_enter, made ? ring : 99, 0, 0, 0, NULL, 0);
    if (made)
        must(entered == 0);
    expect_calls("io_uring_setup", 1);
    expect_calls("io_uring_submit", 1);
    printf("a ring was %s\n", made ? "made" : "refused");
    return 0;
}
