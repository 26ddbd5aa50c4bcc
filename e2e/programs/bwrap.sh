# bubblewrap puts a program under a filter that it is given: one that kills for what netra would ask the kernel,
# and one that forbids nothing anybody needs. Words are instructions of the filter: code, jumps, operand.
step() { printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8)) $2 $3)"
         printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($4 & 255)) $(($4 >> 8 & 255)) $(($4 >> 16 & 255)) $(($4 >> 24 & 255)))"; }
kill_for() {
    step 0x20 0 0 0
    for number; do
        step 0x15 0 1 $number
        step 0x06 0 0 0x80000000
    done
    step 0x06 0 0 0x7fff0000
}
# x86-64: madvise, ftruncate, mkdirat, uname, sysinfo, sched_getaffinity, getsid, sigaltstack, process_vm_readv,
# statx, sched_yield, renameat2; and personality alone.
kill_for 28 77 258 63 99 204 124 131 310 332 24 316 > hard.filter
kill_for 135 > soft.filter
seq 1000 > in.txt
for filter in hard soft; do
    bwrap --bind / / --dev-bind /dev /dev --seccomp 10 tail -n 2 in.txt 10< $filter.filter
    echo "$filter: code $?"
done
