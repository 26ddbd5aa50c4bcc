/* a crash: SIGSEGV must stay SIGSEGV, and the records survive. The records are
 * found by recovery from the segment, as after a crash. */
#include "expect.h"
#include <signal.h>

int main(void) {
    int fd = open("left.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0);
    write_times(fd, 1000, 100);
    must(lseek(fd, 0, SEEK_SET) == 0);
    char bytes[100];
    for (int i = 0; i < 10; i++)
        must(read(fd, bytes, sizeof bytes) == 100);
    expect_posix("left.dat", 1, 1000, 100000, 10, 1000);
    expect("left.dat", "POSIX_SEEKS", 1);
    printf("about to end\n");
    fflush(stdout);
    *(volatile int *)0 = 1;
    return 97;
}
