//! System calls by their numbers: one table, whose rows end a call as the hook of the function of that name
//! does. A test finds the numbers of hooked functions that have no row.
//!
//! Left to themselves: what ends or divides the process (`exit`, `exit_group`, `clone`, `fork`, `vfork`), which
//! is found out otherwise (`life.rs`), and what never comes back through its caller (`rt_sigreturn`).

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{iovec, off_t};
use netra_event::{Function, NO_FILE, NO_OFFSET};

use crate::call::{Call, Opening, Transfer};
use crate::hook::libaio::{self, Failure};
use crate::hook::metadata::{self, meta};
use crate::hook::rename::{At, renamed};
use crate::hook::{data, map, mover, posix, process, random, stat, statx, temporary, uring};
use crate::real as libc_real;
use crate::tls;
use netra_event::segment::shard::posix as counter;

/// What stands in a register.
#[derive(Clone, Copy)]
pub(super) struct Word(pub(super) usize);

/// The arguments of a call.
pub(super) type Words = [Word; 6];

impl Word {
    /// The kernel takes an int from the low half of the register.
    fn int(self) -> c_int {
        self.0 as c_int
    }

    fn unsigned(self) -> c_uint {
        self.0 as c_uint
    }

    /// An offset or a length takes the whole register.
    fn offset(self) -> off_t {
        self.0.cast_signed() as off_t
    }

    fn length(self) -> u64 {
        self.0 as u64
    }

    fn pointer<T>(self) -> *const T {
        core::ptr::with_exposed_provenance(self.0)
    }

    fn path(self) -> *const c_char {
        self.pointer()
    }

    /// The path of a call of a kernel that may know more or less than we do: where it refused the call
    /// itself, it may not have looked at the path, and neither do we.
    fn path_of(self, done: c_long) -> *const c_char {
        let unread = [libc::ENOSYS, libc::EINVAL, libc::E2BIG, libc::EPERM];
        if done < 0 && unread.contains(&libc_real::errno()) {
            return core::ptr::null();
        }
        self.path()
    }
}

/// A call that is still to be made.
pub(super) struct Made<'a>(pub(super) &'a dyn Fn() -> c_long);

/// How a call is recorded.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// When it has been made.
    After(fn(Call, Words, c_long)),
    /// Around it.
    Around(fn(Call, Words, Made<'_>) -> c_long),
}

/// What a number is for us.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) function: Function,
    pub(super) way: Way,
}

/// Declares the table: the kernel's name, the function it counts as, and how.
macro_rules! rows {
    ($($(#[$condition:meta])* $number:ident = $function:ident, $way:ident $how:expr;)*) => {
        /// The row of a number; most calls have none.
        #[inline(always)]
        pub(super) fn of(number: c_long) -> Option<&'static Row> {
            match number {
                $($(#[$condition])* own::$number => {
                    static ROW: Row = Row { function: Function::$function, way: Way::$way($how) };
                    Some(&ROW)
                })*
                _ => None,
            }
        }

        /// The kernel's names of all rows.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($(#[$condition])* stringify!($number)),*];
    };
}

/// Numbers by their names, with those that the crate of C's declarations has not everywhere.
#[expect(non_upper_case_globals, reason = "they are named as there")]
mod own {
    use core::ffi::c_long;

    pub(super) use libc::*;

    pub(super) const SYS_io_uring_setup: c_long = 425;
    pub(super) const SYS_io_uring_enter: c_long = 426;
    pub(super) const SYS_fchmodat2: c_long = 452;
    pub(super) const SYS_io_pgetevents: c_long =
        if cfg!(target_arch = "x86_64") { 333 } else { 292 };
}

/// Ends a read or write of one buffer.
fn moved<const WRITE: bool>(
    call: Call,
    [descriptor, buffer, asked, ..]: Words,
    at: Option<off_t>,
    done: c_long,
) {
    let (descriptor, asked, aligned) = (descriptor.int(), asked.0, buffer.0.is_multiple_of(8));
    call.moved::<WRITE>(Transfer { descriptor, at, asked, aligned }, done as isize);
}

/// Ends a read or write of several.
fn vectored<const WRITE: bool>(
    call: Call,
    [descriptor, parts, count, ..]: Words,
    at: Option<off_t>,
    done: c_long,
) {
    let parts = parts.pointer::<iovec>();
    data::vectored::<WRITE>(call, descriptor.int(), parts, count.int(), at, done as isize);
}

/// Ends an open.
fn opened(
    call: Call,
    directory: c_int,
    path: *const c_char,
    (flags, mode): (c_int, c_uint),
    done: c_long,
) {
    let mode = posix::given_mode(flags, mode);
    call.opened(&Opening { directory, path, flags, mode }, done as c_int);
}

/// Ends a call on a path.
fn on_path(call: Call, directory: c_int, path: Word, done: c_long) {
    // SAFETY: the real call took the path, or it is null.
    unsafe { call.on_path(directory, path.path_of(done), done, (NO_OFFSET, 0), meta) };
}

/// Ends a call on a path that is relative to the working directory.
#[cfg(target_arch = "x86_64")]
fn here(call: Call, path: Word, done: c_long) {
    on_path(call, libc::AT_FDCWD, path, done);
}

/// Ends a call on a descriptor.
fn on_descriptor(call: Call, descriptor: Word, about: (i64, u64), done: c_long) {
    call.on_descriptor(descriptor.int(), done, about, meta);
}

/// Ends a rename.
fn moved_name(call: Call, old: (c_int, Word), new: (c_int, Word), done: c_long) {
    let at = |(directory, path): (c_int, Word)| At(directory, path.path_of(done));
    // SAFETY: the names of the call that was just made.
    unsafe { renamed(call, at(old), at(new), done as c_int) };
}

/// Ends a transfer between two descriptors with an offset each.
fn between(call: Call, [from, from_offset, to, to_offset, bytes, _]: Words, done: c_long) {
    let end = |descriptor: Word, offset: Word| {
        let offset = if done < 0 { core::ptr::null() } else { offset.pointer() };
        // SAFETY: of a call that failed the offsets are not looked at.
        unsafe { mover::End::new(descriptor.int(), offset) }
    };
    mover::moved(call, &end(from, from_offset), &end(to, to_offset), bytes.0, done as isize);
}

/// What is asked of io_uring.
fn ring(call: Call, done: c_long) {
    let errno = libc_real::errno();
    let set_up = call.function == Function::UringSetup;
    if let Some(ended) = call.end() {
        match u64::try_from(done) {
            Ok(count) => ended.alone(NO_OFFSET, count),
            Err(_) => ended.failed(NO_FILE, NO_OFFSET, 0, errno),
        }
        if done >= 0 && set_up {
            uring::say();
        }
    }
}

/// Takes results of the kernel's asynchronous I/O.
fn completed(_: Call, [context, _, _, events, ..]: Words, made: Made<'_>) -> c_long {
    let about = (context.0, events.pointer());
    libaio::completed(libaio::by_number(), about, Failure::Errno, made.0)
}

/// Ends an `openat2`, whose flags lie in memory.
fn opened_how(call: Call, directory: c_int, path: Word, how: Word, done: c_long) {
    // SAFETY: the call succeeded, so the kernel has read three words from there.
    let how = if done < 0 { None } else { unsafe { how.pointer::<[u64; 3]>().as_ref() } };
    let [flags, mode, _] = how.copied().unwrap_or_default();
    opened(call, directory, path.path_of(done), (flags as c_int, mode as c_uint), done);
}

rows! {
    SYS_read = Read, After |call, words, done| moved::<false>(call, words, None, done);
    SYS_write = Write, After |call, words, done| moved::<true>(call, words, None, done);
    SYS_pread64 = Pread, After |call, words @ [_, _, _, at, ..], done| moved::<false>(call, words, Some(at.offset()), done);
    SYS_pwrite64 = Pwrite, After |call, words @ [_, _, _, at, ..], done| moved::<true>(call, words, Some(at.offset()), done);
    SYS_readv = Readv, After |call, words, done| vectored::<false>(call, words, None, done);
    SYS_writev = Writev, After |call, words, done| vectored::<true>(call, words, None, done);
    // The offset comes in two halves; on 64 bits the low one has all of it.
    SYS_preadv = Preadv, After |call, words @ [_, _, _, at, ..], done| vectored::<false>(call, words, Some(at.offset()), done);
    SYS_pwritev = Pwritev, After |call, words @ [_, _, _, at, ..], done| vectored::<true>(call, words, Some(at.offset()), done);
    SYS_preadv2 = Preadv2, After |call, words @ [_, _, _, at, ..], done| vectored::<false>(call, words, data::explicit(at.offset()), done);
    SYS_pwritev2 = Pwritev2, After |call, words @ [_, _, _, at, ..], done| vectored::<true>(call, words, data::explicit(at.offset()), done);

    #[cfg(target_arch = "x86_64")]
    SYS_open = Open, After |call, [path, flags, mode, ..], done| opened(call, libc::AT_FDCWD, path.path_of(done), (flags.int(), mode.unsigned()), done);
    SYS_openat = Openat, After |call, [directory, path, flags, mode, ..], done| opened(call, directory.int(), path.path_of(done), (flags.int(), mode.unsigned()), done);
    SYS_openat2 = Openat2, After |call, [directory, path, how, ..], done| opened_how(call, directory.int(), path, how, done);
    #[cfg(target_arch = "x86_64")]
    SYS_creat = Creat, After |call, [path, mode, ..], done| opened(call, libc::AT_FDCWD, path.path_of(done), (posix::CREAT, mode.unsigned()), done);
    SYS_memfd_create = MemfdCreate, After |call, _, done| temporary::made(call, core::ptr::null(), libc::O_RDWR, done as c_int);
    SYS_open_by_handle_at = OpenByHandleAt, After |call, [_, _, flags, ..], done| temporary::made(call, core::ptr::null(), flags.int(), done as c_int);
    SYS_close = Close, Around |call, [descriptor, ..], made| {
        let was = Call::detach(descriptor.int());
        let done = (made.0)();
        call.closed(descriptor.int(), was, done as c_int);
        done
    };
    SYS_close_range = CloseRange, Around |call, [first, last, flags, ..], made| {
        posix::before_range(first.unsigned(), last.unsigned(), flags.int());
        let done = (made.0)();
        posix::closed_range(call, first.unsigned(), last.unsigned());
        done
    };
    SYS_lseek = Lseek, After |call, [descriptor, offset, whence, ..], done| posix::sought(call, descriptor.int(), (offset.offset(), whence.int()), done);
    SYS_dup = Dup, After |call, [from, ..], done| posix::duplicated(call, from.int(), done as c_int, false);
    #[cfg(target_arch = "x86_64")]
    SYS_dup2 = Dup2, After |call, [from, to, ..], done| posix::duplicated(call, from.int(), done as c_int, from.int() == to.int());
    SYS_dup3 = Dup3, After |call, [from, ..], done| posix::duplicated(call, from.int(), done as c_int, false);
    SYS_fcntl = Fcntl, After |call, [descriptor, command, argument, ..], done| posix::controlled(call, descriptor.int(), (command.int(), argument.0), done as c_int);
    SYS_fsync = Fsync, After |call, [descriptor, ..], done| posix::synced::<{ counter::FSYNCS }>(call, descriptor.int(), done as c_int);
    SYS_fdatasync = Fdatasync, After |call, [descriptor, ..], done| posix::synced::<{ counter::FDSYNCS }>(call, descriptor.int(), done as c_int);

    SYS_copy_file_range = CopyFileRange, After between;
    SYS_splice = Splice, After between;
    SYS_sendfile = Sendfile, After |call, [to, from, offset, bytes, ..], done| {
        between(call, [from, offset, to, Word(0), bytes, Word(0)], done);
    };
    SYS_tee = Tee, After |call, _, done| mover::between_pipes(call, done as isize);
    SYS_vmsplice = Vmsplice, After |call, _, done| mover::between_pipes(call, done as isize);

    SYS_mmap = Mmap, Around |call, [_, bytes, _, flags, descriptor, offset], made| {
        let done = (made.0)();
        if flags.int() & libc::MAP_ANONYMOUS == 0 && tls::slot().mapping.get() == 0 {
            let place = core::ptr::with_exposed_provenance_mut::<c_void>(done as usize);
            map::mapped(call, descriptor.int(), (offset.offset(), bytes.0), place);
        }
        done
    };
    SYS_msync = Msync, After |call, [_, bytes, ..], _| map::written_back(call, bytes.0);

    #[cfg(target_arch = "x86_64")]
    SYS_stat = Stat, After |call, [path, into, ..], done| {
        // SAFETY: the arguments of the call that was just made; the kernel's layout is libc's.
        unsafe { stat::stat_of(call, libc::AT_FDCWD, path.path_of(done), into.pointer(), done as c_int) }
    };
    #[cfg(target_arch = "x86_64")]
    SYS_lstat = Lstat, After |call, [path, into, ..], done| {
        // SAFETY: as above.
        unsafe { stat::stat_of(call, libc::AT_FDCWD, path.path_of(done), into.pointer(), done as c_int) }
    };
    SYS_fstat = Fstat, After |call, [descriptor, into, ..], done| stat::stat_at(call, descriptor.int(), into.pointer(), done as c_int);
    SYS_newfstatat = Fstatat, After |call, [directory, path, into, flags, ..], done| {
        // SAFETY: the arguments of the call that was just made; the kernel's layout is libc's.
        unsafe { stat::stat_from(call, directory.int(), path.path_of(done), into.pointer(), flags.int(), done as c_int) }
    };
    SYS_statx = Statx, After |call, [directory, path, flags, _, into, _], done| {
        // SAFETY: the arguments of the call that was just made.
        unsafe { statx::looked_up(call, (directory.int(), path.path_of(done), flags.int()), into.pointer(), done as c_int) }
    };

    #[cfg(target_arch = "x86_64")]
    SYS_rename = Rename, After |call, [old, new, ..], done| moved_name(call, (libc::AT_FDCWD, old), (libc::AT_FDCWD, new), done);
    SYS_renameat = Renameat, After |call, [from, old, to, new, ..], done| moved_name(call, (from.int(), old), (to.int(), new), done);
    SYS_renameat2 = Renameat2, After |call, [from, old, to, new, ..], done| moved_name(call, (from.int(), old), (to.int(), new), done);

    #[cfg(target_arch = "x86_64")]
    SYS_access = Access, After |call, [path, ..], done| here(call, path, done);
    SYS_faccessat = Faccessat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    SYS_faccessat2 = Faccessat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_unlink = Unlink, After |call, [path, ..], done| here(call, path, done);
    SYS_unlinkat = Unlinkat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_link = Link, After |call, [path, ..], done| here(call, path, done);
    SYS_linkat = Linkat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_symlink = Symlink, After |call, [_, path, ..], done| here(call, path, done);
    SYS_symlinkat = Symlinkat, After |call, [_, directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_readlink = Readlink, After |call, [path, ..], done| here(call, path, done);
    SYS_readlinkat = Readlinkat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_mkdir = Mkdir, After |call, [path, ..], done| here(call, path, done);
    SYS_mkdirat = Mkdirat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_rmdir = Rmdir, After |call, [path, ..], done| here(call, path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_mknod = Mknod, After |call, [path, ..], done| here(call, path, done);
    SYS_mknodat = Mknod, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_chmod = Chmod, After |call, [path, ..], done| here(call, path, done);
    SYS_fchmodat = Fchmodat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    SYS_fchmodat2 = Fchmodat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_chown = Chown, After |call, [path, ..], done| here(call, path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_lchown = Lchown, After |call, [path, ..], done| here(call, path, done);
    SYS_fchownat = Fchownat, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    SYS_utimensat = Utimensat, After |call, [directory, path, ..], done| match path {
        // So libc asks for `futimens`.
        Word(0) => on_descriptor(Call { function: Function::Futimens, ..call }, directory, (NO_OFFSET, 0), done),
        path => on_path(call, directory.int(), path, done),
    };
    #[cfg(target_arch = "x86_64")]
    SYS_futimesat = Utimes, After |call, [directory, path, ..], done| on_path(call, directory.int(), path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_utime = Utime, After |call, [path, ..], done| here(call, path, done);
    #[cfg(target_arch = "x86_64")]
    SYS_utimes = Utimes, After |call, [path, ..], done| here(call, path, done);
    SYS_truncate = Truncate, After |call, [path, ..], done| on_path(call, libc::AT_FDCWD, path, done);
    SYS_statfs = Statfs, After |call, [path, ..], done| on_path(call, libc::AT_FDCWD, path, done);

    SYS_ftruncate = Ftruncate, After |call, [descriptor, length, ..], done| on_descriptor(call, descriptor, (length.offset(), 0), done);
    SYS_fallocate = Fallocate, After |call, [descriptor, _, offset, length, ..], done| on_descriptor(call, descriptor, (offset.offset(), length.length()), done);
    SYS_readahead = Readahead, After |call, [descriptor, offset, length, ..], done| on_descriptor(call, descriptor, (offset.offset(), length.length()), done);
    SYS_fadvise64 = PosixFadvise, After |call, [descriptor, offset, length, ..], done| on_descriptor(call, descriptor, (offset.offset(), length.length()), done);
    SYS_sync_file_range = SyncFileRange, After |call, [descriptor, offset, length, ..], done| on_descriptor(call, descriptor, (offset.offset(), length.length()), done);
    SYS_fchmod = Fchmod, After |call, [descriptor, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, 0), done);
    SYS_fchown = Fchown, After |call, [descriptor, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, 0), done);
    SYS_flock = Flock, After |call, [descriptor, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, 0), done);
    SYS_fstatfs = Fstatfs, After |call, [descriptor, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, 0), done);
    SYS_syncfs = Syncfs, After |call, [descriptor, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, 0), done);
    SYS_ioctl = Ioctl, After |call, [descriptor, request, ..], done| on_descriptor(call, descriptor, (NO_OFFSET, request.length()), done);
    SYS_sync = Sync, After |call, _, _| metadata::finished(call);

    SYS_getrandom = Getrandom, After |call, [_, bytes, ..], done| random::given(call, bytes.0, done as isize);

    SYS_io_uring_setup = UringSetup, After |call, _, done| ring(call, done);
    SYS_io_uring_enter = UringSubmit, After |call, _, done| ring(call, done);

    SYS_io_submit = LibaioSubmit, Around |_, [context, count, list, ..], made| {
        let about = (context.0, count.offset() as c_long, list.pointer());
        libaio::submitted(libaio::by_number(), about, Failure::Errno, made.0)
    };
    SYS_io_getevents = LibaioGetevents, Around completed;
    SYS_io_pgetevents = LibaioGetevents, Around completed;
    SYS_io_destroy = LibaioDestroy, Around |_, [context, ..], made| {
        libaio::destroyed(libaio::by_number(), context.0, Failure::Errno, made.0)
    };

    SYS_execve = Exec, Around |_, [path, arguments, environment, ..], made| {
        // SAFETY: the caller keeps the contract of execve(2).
        unsafe { process::execve_by_number(path.pointer(), arguments.pointer(), environment.pointer(), made.0) }
    };
    SYS_execveat = Exec, Around |_, [directory, path, arguments, environment, flags, _], made| {
        let from = (directory.int(), path.pointer(), flags.int());
        // SAFETY: the caller keeps the contract of execveat(2).
        unsafe { process::execveat_by_number(from, arguments.pointer(), environment.pointer(), made.0) }
    };
    SYS_chroot = Chroot, Around |call, _, made| process::confined(call, made.0);
}

#[cfg(test)]
mod tests {
    use super::NAMES;

    /// Hooked functions whose numbers have no row, and why.
    const NONE: [(&str, &str); 5] = [
        ("vfork", "the child borrows its parent's stack: `arch::vfork`"),
        ("prctl", "it is no I/O: `sandbox.rs` looks at its number itself"),
        ("setuid", "by its number it is of one thread, not of the process"),
        ("setreuid", "as `setuid`"),
        ("setresuid", "as `setuid`"),
    ];

    /// The names of the exports, as the preload library lists them.
    fn exports() -> Vec<&'static str> {
        let rows = include_str!("../../../../preload/src/lib.rs").lines();
        let name = |line: &'static str| line.trim().split_once(" / ").map(|(name, _)| name);
        rows.filter_map(name).filter(|name| !name.contains([' ', '`', '('])).collect()
    }

    /// The kernel's names of its calls, from the header that every C compiler brings.
    fn calls() -> Vec<String> {
        let kind = if cfg!(target_arch = "x86_64") { "x86_64" } else { "aarch64" };
        let places = [
            format!("/usr/include/{kind}-linux-gnu/asm/unistd_64.h"),
            format!("/usr/include/{kind}-linux-gnu/asm/unistd.h"),
            "/usr/include/asm/unistd_64.h".to_owned(),
            "/usr/include/asm-generic/unistd.h".to_owned(),
        ];
        let text = places.iter().find_map(|place| std::fs::read_to_string(place).ok());
        let text = text.expect("the headers of the kernel, without which nothing can be linked");
        let name =
            |line: &str| Some(line.strip_prefix("#define __NR_")?.split_once(' ')?.0.to_owned());
        text.lines().filter_map(name).collect()
    }

    #[test]
    fn every_hooked_function_that_is_a_system_call_has_a_row() {
        let (exports, calls) = (exports(), calls());
        assert!(exports.len() > 300 && exports.contains(&"pwritev2"), "{}", exports.len());
        assert!(calls.len() > 300, "{}", calls.len());
        let has = |name: &str| NAMES.iter().any(|row| row.strip_prefix("SYS_") == Some(name));
        let excused = |name: &str| NONE.iter().any(|(none, _)| *none == name);
        let missing: Vec<&&str> = exports
            .iter()
            .filter(|name| calls.iter().any(|call| call == **name))
            .filter(|name| !has(name) && !excused(name))
            .collect();
        assert!(
            missing.is_empty(),
            "a hook, and no row for what syscall() makes of it: {missing:?}"
        );
    }

    #[test]
    fn every_row_is_a_call_of_the_kernel() {
        let calls = calls();
        let unknown: Vec<&&str> = NAMES
            .iter()
            .filter(|row| !calls.iter().any(|call| row.strip_prefix("SYS_") == Some(call)))
            // Newer than some headers.
            .filter(|row| **row != "SYS_fchmodat2")
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
