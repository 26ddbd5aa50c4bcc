/* What libraries do that patch code: they write a jump over the beginning of a function, as UCX and Open MPI
 * do to learn of memory that comes and goes. */
#ifndef NETRA_PATCH_H
#define NETRA_PATCH_H
#include "expect.h"
#include <stdint.h>
#include <sys/mman.h>

/* The longest jump that anybody writes: to any address, through a register. */
#if defined(__x86_64__)
#define PATCH_BYTES 16
static inline void make_jump(unsigned char *into, void *to) {
    static const unsigned char load[2] = {0x49, 0xbb}, jump[6] = {0x41, 0xff, 0xe3, 0xcc, 0xcc, 0xcc};
    memcpy(into, load, 2); /* mov r11, to; jmp r11 */
    memcpy(into + 2, &to, 8);
    memcpy(into + 10, jump, 6);
}
#elif defined(__aarch64__)
#define PATCH_BYTES 20
static inline void make_jump(unsigned char *into, void *to) {
    uint32_t words[5] = {0xd2800011, 0xf2a00011, 0xf2c00011, 0xf2e00011, 0xd61f0220};
    for (int i = 0; i < 4; i++) /* movz and movk x17; br x17 */
        words[i] |= (uint32_t)((uintptr_t)to >> (16 * i) & 0xffff) << 5;
    memcpy(into, words, sizeof words);
}
#endif

/* Writes over code. */
static inline void overwrite(void *code, const void *bytes, size_t length) {
    uintptr_t page = (uintptr_t)code & ~4095ul, end = ((uintptr_t)code + length + 4095) & ~4095ul;
    if (mprotect((void *)page, end - page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        bare_syscall(SYS_exit_group, 98, 0, 0, 0);
    for (size_t i = 0; i < length; i++)
        ((volatile unsigned char *)code)[i] = ((const unsigned char *)bytes)[i];
    __builtin___clear_cache((char *)code, (char *)code + length);
    if (mprotect((void *)page, end - page, PROT_READ | PROT_EXEC) != 0)
        bare_syscall(SYS_exit_group, 98, 0, 0, 0);
}
#endif
