//! Why a counter differs from Darshan's: a table, by program, file and counter. What no row explains is an
//! error of `cargo xtask compare darshan`.

/// A reason, and what it is the reason for.
pub(super) struct Reason {
    programs: &'static str,
    /// Names of files as the program has them; `*` is every one.
    files: &'static str,
    /// Whole names; one that ends with `*` is a beginning.
    counters: &'static str,
    pub(super) why: &'static str,
    /// Whether the values depend on chance: they are then not written down.
    pub(super) chance: bool,
}

const fn because(
    programs: &'static str,
    files: &'static str,
    counters: &'static str,
    why: &'static str,
) -> Reason {
    Reason { programs, files, counters, why, chance: false }
}

const fn by_chance(
    programs: &'static str,
    files: &'static str,
    counters: &'static str,
    why: &'static str,
) -> Reason {
    Reason { programs, files, counters, why, chance: true }
}

/// What one more or one less write of a file changes.
const WRITTEN: &str = "POSIX_WRITES POSIX_BYTES_WRITTEN POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES \
    POSIX_SEQ_WRITES POSIX_FILE_NOT_ALIGNED POSIX_MAX_WRITE_TIME_SIZE POSIX_SIZE_WRITE_* POSIX_ACCESS*";
const STREAM_WRITTEN: &str = "STDIO_OPENS STDIO_WRITES STDIO_BYTES_WRITTEN STDIO_MAX_BYTE_WRITTEN";

const REASONS: &[Reason] = &[
    because("*", "*", "POSIX_MMAPS", "Darshan's preload library does not see `mmap` and writes −1"),
    because(
        "*",
        "*",
        "POSIX_STATS",
        "`stat`, `lstat`, `fstat` and `fstatat` as glibc 2.33 and later export them, and `statx`, are not wrapped by Darshan",
    ),
    because(
        "wide_stdio",
        "wide.txt",
        "POSIX_MEM_ALIGNMENT POSIX_FILE_ALIGNMENT",
        "the stat that Darshan does not see makes a record that only netra has",
    ),
    by_chance(
        "aio",
        "aio.dat",
        "POSIX_MAX_READ_TIME_SIZE",
        "the size of the slowest call, where calls of several sizes are about equally fast",
    ),
    because(
        "atexit constructor fcloseall fdopen_fclose pipes pthread_cancel raw_clone short_threads signal_storm thread_exit",
        "<STDOUT>",
        STREAM_WRITTEN,
        "`puts`, which compilers make of `printf` of a whole line, is not wrapped by Darshan",
    ),
    because(
        "standard_streams",
        "<STDOUT>",
        STREAM_WRITTEN,
        "`puts`, `putchar` and `putchar_unlocked` are not wrapped by Darshan",
    ),
    because(
        "fortify",
        "<STDOUT> fortified.txt",
        "STDIO_*",
        "`__printf_chk`, `__fprintf_chk`, `__fread_chk` and `__fgets_chk` are not wrapped by Darshan",
    ),
    because(
        "fortify",
        "fortified.dat",
        "POSIX_OPENS POSIX_READS POSIX_BYTES_READ POSIX_MAX_BYTE_READ POSIX_CONSEC_READS POSIX_SEQ_READS \
         POSIX_RW_SWITCHES POSIX_FILE_NOT_ALIGNED POSIX_MAX_READ_TIME_SIZE POSIX_SIZE_READ_* POSIX_ACCESS*",
        "`__read_chk`, `__pread_chk`, `__pread64_chk` and `__openat_2` are not wrapped by Darshan",
    ),
    because(
        "stdio",
        "family.txt",
        "STDIO_*",
        "`putc`, `getc`, `getline`, `getdelim` and every `_unlocked` form are not wrapped by Darshan",
    ),
    because(
        "wide_stdio",
        "wide.txt",
        "STDIO_*",
        "calls for wide characters are not wrapped by Darshan",
    ),
    because(
        "unlocked_inline",
        "inline.txt",
        "STDIO_*",
        "`putc_unlocked` and `getc_unlocked` that compilers put in place; netra accounts their bytes by the position",
    ),
    because(
        "scanf_family",
        "numbers.txt",
        "STDIO_READS",
        "Darshan counts a scan that found nothing but the end of the file as a read",
    ),
    because(
        "fdopen_fclose",
        "stream.dat",
        "STDIO_MAX_BYTE_WRITTEN",
        "a stream made by `fdopen` begins where its descriptor stands; Darshan lets it begin at 0",
    ),
    because(
        "printf_family",
        "raw.txt",
        WRITTEN,
        "`dprintf` and `vdprintf` are not wrapped by Darshan",
    ),
    because("temporary", "<TMPFILE>", STREAM_WRITTEN, "`tmpfile` is not wrapped by Darshan"),
    because(
        "syscall",
        "raw.dat",
        "POSIX_*",
        "calls through `syscall()` are not wrapped by Darshan",
    ),
    because(
        "constructor",
        "preinit.dat",
        "POSIX_*",
        "the calls of `.preinit_array` come before Darshan's constructor, and are not counted by it",
    ),
    because(
        "movers",
        "from.dat to.dat",
        "POSIX_READS POSIX_BYTES_READ POSIX_MAX_BYTE_READ POSIX_RW_SWITCHES POSIX_MAX_READ_TIME_SIZE \
         POSIX_SIZE_READ_* POSIX_WRITES POSIX_BYTES_WRITTEN POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES \
         POSIX_SEQ_WRITES POSIX_FILE_NOT_ALIGNED POSIX_MAX_WRITE_TIME_SIZE POSIX_SIZE_WRITE_* POSIX_ACCESS*",
        "`copy_file_range`, `sendfile` and `splice` are not wrapped by Darshan",
    ),
    because(
        "rename",
        "new.dat newer.dat newest.dat",
        "POSIX_RENAME* POSIX_MEM_ALIGNMENT POSIX_FILE_ALIGNMENT",
        "`renameat` and `renameat2` are not wrapped by Darshan; a name that only they made has no record there",
    ),
    because(
        "dup_offset",
        "apart.dat",
        "POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES POSIX_SEQ_WRITES POSIX_FILE_NOT_ALIGNED",
        "the file is opened twice, and Darshan keeps one position for a file, not one for each open file",
    ),
    because(
        "o_append",
        "log.txt",
        "POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES POSIX_SEQ_WRITES POSIX_FILE_NOT_ALIGNED",
        "Darshan ignores O_APPEND: to it the second open writes from 0 on",
    ),
    because(
        "pipes",
        "named.dat",
        WRITTEN,
        "a socket takes the descriptor's number by `dup2`; Darshan goes on counting to the file",
    ),
    because(
        "fork posix_spawn raw_clone",
        "*",
        "POSIX_*",
        "a descriptor that a child or a new image inherits is unknown to Darshan there; after a raw clone the child's calls count in what it believes to be the parent",
    ),
    because(
        "vfork",
        "parent.dat",
        WRITTEN,
        "the child of vfork closes the descriptor, and Darshan forgets it in the parent, whose memory the child borrows",
    ),
    because(
        "variadic",
        ".",
        "POSIX_MODE",
        "a file without a name (O_TMPFILE) is opened without its mode under Darshan: the application gets a file with other rights",
    ),
    because(
        "variadic",
        "<STDOUT>",
        "STDIO_BYTES_WRITTEN STDIO_MAX_BYTE_WRITTEN",
        "the program prints the rights of that file, which Darshan changed",
    ),
    by_chance(
        "shared_fd short_threads",
        "positioned.dat sequential.dat threads.dat",
        "POSIX_CONSEC_WRITES POSIX_SEQ_WRITES POSIX_STRIDE*",
        "each thread is a stream of its own in netra, all threads together are one in Darshan, and how they interleave is chance",
    ),
    by_chance(
        "open_close_race",
        "*",
        "POSIX_WRITES POSIX_BYTES_WRITTEN POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES POSIX_SEQ_WRITES \
         POSIX_FILE_NOT_ALIGNED POSIX_SIZE_WRITE_* POSIX_ACCESS*",
        "one thread closes a number while another is given it, and Darshan then counts to the wrong file",
    ),
    by_chance(
        "signal_storm",
        "handler.dat",
        "POSIX_WRITES POSIX_BYTES_WRITTEN POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC_WRITES POSIX_SEQ_WRITES \
         POSIX_MEM_NOT_ALIGNED POSIX_FILE_NOT_ALIGNED POSIX_SIZE_WRITE_* POSIX_ACCESS*",
        "how often the timer of the program fires",
    ),
];

/// The reason for a difference, if there is one.
pub(super) fn of(program: &str, file: &str, counter: &str) -> Option<&'static Reason> {
    let listed = |list: &str, name: &str| {
        list.split_whitespace().any(|own| match own.strip_suffix('*') {
            Some(begins) => name.starts_with(begins),
            None => own == name,
        })
    };
    REASONS.iter().find(|reason| {
        listed(reason.programs, program)
            && listed(reason.files, file)
            && listed(reason.counters, counter)
    })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_reason_is_for_its_program_file_and_counter_alone() {
        assert!(of("syscall", "raw.dat", "POSIX_READS").is_some());
        assert!(of("syscall", "other.dat", "POSIX_READS").is_none());
        assert!(of("plain", "raw.dat", "POSIX_READS").is_none());
        assert!(of("dup_offset", "apart.dat", "POSIX_WRITES").is_none());
        assert!(of("fork", "x", "POSIX_WRITES").is_some_and(|reason| !reason.chance));
    }
}
