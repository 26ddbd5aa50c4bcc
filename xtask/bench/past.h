/* A system call past the C library, where no tool stands in between. */
#include <stddef.h>
#include <sys/types.h>

static long past(long number, long file, void *block, size_t size, off_t at) {
#if defined(__x86_64__)
    long result = number;
    register long offset __asm__("r10") = at;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(file), "S"(block), "d"(size), "r"(offset)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long call __asm__("x8") = number;
    register long result __asm__("x0") = file;
    register void *from __asm__("x1") = block;
    register size_t length __asm__("x2") = size;
    register long offset __asm__("x3") = at;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(call), "r"(from), "r"(length), "r"(offset) : "memory");
    return result;
#endif
}
