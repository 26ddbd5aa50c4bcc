//! Names, rights, sizes and advice: calls that move no data and that Darshan has no counter for. Each
//! is an event and counts by its function; where the file has a record, its time is metadata time.
//! A table, one row a name.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::{off_t, ssize_t};
use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use crate::call::{Call, Ended};
use crate::shard::Shard;

/// Counts a call among the others that change names, sizes and rights.
pub(super) fn meta(shard: &Shard, ended: &Ended) {
    shard.add::<{ posix::METAS }>(1);
    shard.add::<{ posix::META_TIME }>(ended.took());
}

/// Calls on a path: the row says which arguments are the directory and the path.
macro_rules! on_path {
    ($($name:ident = $function:ident($($arg:ident: $kind:ty),*) -> $result:ty, at $directory:expr, $path:ident;)*) => {
        mod real_path {
            use super::*;
            crate::real! { $(fn $name($($arg: $kind),*) -> $result, else -1;)* }
        }
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// The caller keeps the contract of the C function; every argument goes on untouched.
            /// The last argument is the caller's return address.
            pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> $result {
                let call = Call::begin(Function::$function, site);
                // SAFETY: the caller's contract is the real function's.
                let done = unsafe { real_path::$name($($arg),*) };
                // SAFETY: the real call took the path.
                unsafe { call.on_path($directory, $path, done as i64, (NO_OFFSET, 0), meta) };
                done
            }
        )*
    };
}

on_path! {
    access = Access(path: *const c_char, mode: c_int) -> c_int, at libc::AT_FDCWD, path;
    euidaccess = Access(path: *const c_char, mode: c_int) -> c_int, at libc::AT_FDCWD, path;
    faccessat = Faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, at directory, path;
    unlink = Unlink(path: *const c_char) -> c_int, at libc::AT_FDCWD, path;
    unlinkat = Unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int, at directory, path;
    remove = Remove(path: *const c_char) -> c_int, at libc::AT_FDCWD, path;
    link = Link(path: *const c_char, new: *const c_char) -> c_int, at libc::AT_FDCWD, path;
    linkat = Linkat(directory: c_int, path: *const c_char, to: c_int, new: *const c_char, flags: c_int) -> c_int, at directory, path;
    symlink = Symlink(target: *const c_char, path: *const c_char) -> c_int, at libc::AT_FDCWD, path;
    symlinkat = Symlinkat(target: *const c_char, directory: c_int, path: *const c_char) -> c_int, at directory, path;
    readlink = Readlink(path: *const c_char, into: *mut c_char, room: usize) -> ssize_t, at libc::AT_FDCWD, path;
    __readlink_chk = Readlink(path: *const c_char, into: *mut c_char, bytes: usize, room: usize) -> ssize_t, at libc::AT_FDCWD, path;
    readlinkat = Readlinkat(directory: c_int, path: *const c_char, into: *mut c_char, room: usize) -> ssize_t, at directory, path;
    __readlinkat_chk = Readlinkat(directory: c_int, path: *const c_char, into: *mut c_char, bytes: usize, room: usize) -> ssize_t, at directory, path;
    mkdir = Mkdir(path: *const c_char, mode: c_uint) -> c_int, at libc::AT_FDCWD, path;
    mkdirat = Mkdirat(directory: c_int, path: *const c_char, mode: c_uint) -> c_int, at directory, path;
    rmdir = Rmdir(path: *const c_char) -> c_int, at libc::AT_FDCWD, path;
    mknod = Mknod(path: *const c_char, mode: c_uint, device: u64) -> c_int, at libc::AT_FDCWD, path;
    mkfifo = Mkfifo(path: *const c_char, mode: c_uint) -> c_int, at libc::AT_FDCWD, path;
    chmod = Chmod(path: *const c_char, mode: c_uint) -> c_int, at libc::AT_FDCWD, path;
    fchmodat = Fchmodat(directory: c_int, path: *const c_char, mode: c_uint, flags: c_int) -> c_int, at directory, path;
    chown = Chown(path: *const c_char, user: c_uint, group: c_uint) -> c_int, at libc::AT_FDCWD, path;
    lchown = Lchown(path: *const c_char, user: c_uint, group: c_uint) -> c_int, at libc::AT_FDCWD, path;
    fchownat = Fchownat(directory: c_int, path: *const c_char, user: c_uint, group: c_uint, flags: c_int) -> c_int, at directory, path;
    utimensat = Utimensat(directory: c_int, path: *const c_char, times: *const c_void, flags: c_int) -> c_int, at directory, path;
    utime = Utime(path: *const c_char, times: *const c_void) -> c_int, at libc::AT_FDCWD, path;
    utimes = Utimes(path: *const c_char, times: *const c_void) -> c_int, at libc::AT_FDCWD, path;
    lutimes = Utimes(path: *const c_char, times: *const c_void) -> c_int, at libc::AT_FDCWD, path;
    truncate = Truncate(path: *const c_char, length: off_t) -> c_int, at libc::AT_FDCWD, path;
    statfs = Statfs(path: *const c_char, into: *mut c_void) -> c_int, at libc::AT_FDCWD, path;
    statvfs = Statvfs(path: *const c_char, into: *mut c_void) -> c_int, at libc::AT_FDCWD, path;
}

/// Calls on a descriptor: the row gives what stands in the event as offset and length.
macro_rules! on_descriptor {
    ($($name:ident = $function:ident($($arg:ident: $kind:ty),*) -> $result:ty, $offset:expr, $length:expr;)*) => {
        mod real_descriptor {
            use super::*;
            crate::real! { $(fn $name(descriptor: c_int $(, $arg: $kind)*) -> $result, else -1;)* }
        }
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// The caller keeps the contract of the C function; every argument goes on untouched.
            /// The last argument is the caller's return address.
            pub unsafe extern "C" fn $name(descriptor: c_int, $($arg: $kind,)* site: usize) -> $result {
                let call = Call::begin(Function::$function, site);
                // SAFETY: the caller's contract is the real function's.
                let done = unsafe { real_descriptor::$name(descriptor $(, $arg)*) };
                call.on_descriptor(descriptor, done as i64, ($offset, $length), meta);
                done
            }
        )*
    };
}

on_descriptor! {
    ftruncate = Ftruncate(length: off_t) -> c_int, length, 0;
    fallocate = Fallocate(mode: c_int, offset: off_t, length: off_t) -> c_int, offset, length.cast_unsigned();
    readahead = Readahead(offset: off_t, length: usize) -> ssize_t, offset, length as u64;
    fchmod = Fchmod(mode: c_uint) -> c_int, NO_OFFSET, 0;
    fchown = Fchown(user: c_uint, group: c_uint) -> c_int, NO_OFFSET, 0;
    futimens = Futimens(times: *const c_void) -> c_int, NO_OFFSET, 0;
    futimes = Utimes(times: *const c_void) -> c_int, NO_OFFSET, 0;
    flock = Flock(operation: c_int) -> c_int, NO_OFFSET, 0;
    lockf = Lockf(command: c_int, length: off_t) -> c_int, NO_OFFSET, length.cast_unsigned();
    fstatfs = Fstatfs(into: *mut c_void) -> c_int, NO_OFFSET, 0;
    fstatvfs = Fstatvfs(into: *mut c_void) -> c_int, NO_OFFSET, 0;
    syncfs = Syncfs() -> c_int, NO_OFFSET, 0;
    sync_file_range = SyncFileRange(offset: off_t, length: off_t, flags: c_uint) -> c_int, offset, length.cast_unsigned();
    ioctl = Ioctl(request: usize, argument: usize) -> c_int, NO_OFFSET, request as u64;
}

/// Calls that return the error itself and leave errno alone.
macro_rules! returns_error {
    ($($name:ident = $function:ident($($arg:ident: $kind:ty),*);)*) => {
        mod real_error {
            use super::*;
            crate::real! { $(fn $name(descriptor: c_int, offset: off_t, length: off_t $(, $arg: $kind)*) -> c_int, else libc::ENOSYS;)* }
        }
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// The caller keeps the contract of the C function; every argument goes on untouched.
            /// The last argument is the caller's return address.
            pub unsafe extern "C" fn $name(descriptor: c_int, offset: off_t, length: off_t, $($arg: $kind,)* site: usize) -> c_int {
                let call = Call::begin(Function::$function, site);
                // SAFETY: the caller's contract is the real function's.
                let done = unsafe { real_error::$name(descriptor, offset, length $(, $arg)*) };
                let failed = i64::from(done).wrapping_neg();
                call.on_descriptor(descriptor, failed, (offset, length.cast_unsigned()), meta);
                done
            }
        )*
    };
}

returns_error! {
    posix_fallocate = PosixFallocate();
    posix_fallocate64 = PosixFallocate();
    posix_fadvise = PosixFadvise(advice: c_int);
}

/// Ends a call on no file that is known.
pub(super) fn finished(call: Call) {
    if let Some(ended) = call.end() {
        ended.alone(NO_OFFSET, 0);
    }
}

/// Directories are read through a handle that is libc's: calls are counted, files are not known.
macro_rules! alone {
    ($($name:ident = $function:ident($($arg:ident: $kind:ty),*) -> $result:ty, else $absent:expr;)*) => {
        mod real_alone {
            use super::*;
            crate::real! { $(fn $name($($arg: $kind),*) -> $result, else $absent;)* }
        }
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// The caller keeps the contract of the C function; every argument goes on untouched.
            /// The last argument is the caller's return address.
            pub unsafe extern "C" fn $name($($arg: $kind,)* site: usize) -> $result {
                let call = Call::begin(Function::$function, site);
                // SAFETY: the caller's contract is the real function's.
                let done = unsafe { real_alone::$name($($arg),*) };
                finished(call);
                done
            }
        )*
    };
}

alone! {
    readdir = Readdir(folder: *mut c_void) -> *mut c_void, else core::ptr::null_mut();
    fdopendir = Fdopendir(descriptor: c_int) -> *mut c_void, else core::ptr::null_mut();
    sync = Sync() -> (), else ();
}
