/* dup2 and dup3 over a descriptor that is open on another file: from then on its bytes belong to
 * the new file. */
#include "expect.h"

int main(void) {
    int one = open("one.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int two = open("two.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int three = open("three.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(one >= 0 && two >= 0 && three >= 0);
    write_times(two, 1, 1000);
    must(dup2(one, two) == two);
    write_times(two, 3, 10);
    must(dup3(three, two, O_CLOEXEC) == two);
    write_times(two, 4, 20);
    must(dup2(one, one) == one);
    must(dup3(one, one, 0) == -1);
    printf("dup3 on itself: %s\n", strerror(errno));
    must(dup2(777, two) == -1);
    printf("dup2 of nothing: %s\n", strerror(errno));
    write_times(two, 1, 20);
    int free_number = fcntl(one, F_DUPFD, 100);
    must(free_number == 100);
    write_times(free_number, 2, 10);
    int plain = dup(one);
    write_times(plain, 1, 10);
    expect_posix("one.dat", 5, 6, 60, 0, 0);
    expect("one.dat", "POSIX_DUPS", 4);
    expect_posix("two.dat", 1, 1, 1000, 0, 0);
    expect_posix("three.dat", 2, 5, 100, 0, 0);
    expect("three.dat", "POSIX_DUPS", 1);
    return 0;
}
