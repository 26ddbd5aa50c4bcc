//! Streams come and go: `fopen`, `fdopen`, `freopen`, `tmpfile`, `popen`, `fclose` and `fileno`.
//! libc opens and closes the descriptor inside, so the table of descriptors hears of it here.

use core::ffi::{c_char, c_int};

use netra_event::segment::shard::{posix, stdio};
use netra_event::{Function, Loss, NO_FILE, NO_OFFSET};

use super::stream::{self, File};
use crate::call::{Call, Ended};
use crate::files;
use crate::hook::posix::named;
use crate::lustre;
use crate::module::STDIO;
use crate::name;
use crate::real as libc_real;
use crate::settings::SETTINGS;

mod real {
    use super::{File, c_char, c_int};

    crate::real! {
        fn fopen(path: *const c_char, mode: *const c_char) -> *mut File, else core::ptr::null_mut();
        fn fdopen(fd: c_int, mode: *const c_char) -> *mut File, else core::ptr::null_mut();
        fn freopen(path: *const c_char, mode: *const c_char, stream: *mut File) -> *mut File,
            else core::ptr::null_mut();
        fn freopen64(path: *const c_char, mode: *const c_char, stream: *mut File) -> *mut File,
            else core::ptr::null_mut();
        fn tmpfile() -> *mut File, else core::ptr::null_mut();
        fn popen(command: *const c_char, mode: *const c_char) -> *mut File,
            else core::ptr::null_mut();
        fn fclose(stream: *mut File) -> c_int, else -1;
        fn pclose(stream: *mut File) -> c_int, else -1;
        fn fcloseall() -> c_int, else -1;
        fn fileno(stream: *mut File) -> c_int, else -1;
    }
}

/// Counts an open in the record of its file.
fn count(ended: &Ended, file: u32, descriptor: c_int) {
    ended.with(&STDIO, file, |shard, ended| {
        shard.add::<{ stdio::OPENS }>(1);
        shard.span::<{ stdio::OPEN_START }, { stdio::OPEN_END }, { stdio::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    ended.event(file, 0, u64::from(descriptor.cast_unsigned()));
}

/// Ends an open by path.
///
/// # Safety
/// `path` and `mode` are C strings that the real call took, `made` is what it returned.
unsafe fn opened(call: Call, made: *mut File, path: *const c_char, mode: *const c_char) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    if made.is_null() && errno == libc::EFAULT {
        // The real call could not read the path.
        return ended.skip(Loss::Excluded);
    }
    // SAFETY: the caller vouches.
    let path = unsafe { name::clean(ended.thread, libc::AT_FDCWD, path) };
    let path = path.filter(|path| SETTINGS.records(&STDIO) && !name::excluded(path));
    let file = path.map_or(NO_FILE, |path| name::of(path, name::PATH).0);
    if made.is_null() {
        return match file {
            NO_FILE => ended.skip(Loss::Excluded),
            file => ended.failed(file, 0, 0, errno),
        };
    }
    // SAFETY: a stream that was just opened; the mode is a C string.
    let (descriptor, appends) =
        unsafe { (stream::descriptor(made), mode.cast::<u8>().read() == b'a') };
    // Whatever had this number before was closed inside libc.
    files::forget(descriptor);
    lustre::opened(file, descriptor);
    // SAFETY: a stream that was just opened.
    let position = if appends { unsafe { stream::position(made) }.unwrap_or(0) } else { 0 };
    stream::set(made, descriptor, file, position);
    if file == NO_FILE {
        return ended.skip(Loss::Excluded);
    }
    count(&ended, file, descriptor);
}

named! {
    /// `fopen(3)`.
    fn [fopen](path: *const c_char, mode: *const c_char, site: usize) -> *mut File, real => {
        let call = Call::begin(Function::Fopen, site);
        // SAFETY: the caller's contract is the real function's.
        let made = unsafe { real(path, mode) };
        // SAFETY: the real call took both strings.
        unsafe { opened(call, made, path, mode) };
        made
    }
}
named! {
    /// `freopen(3)`: the stream keeps its address and gets another file.
    fn [freopen freopen64](path: *const c_char, mode: *const c_char, old: *mut File, site: usize) -> *mut File, real => {
        let call = Call::begin(Function::Freopen, site);
        // SAFETY: an open stream, by the caller's contract.
        let left = unsafe { leave(old) };
        // SAFETY: the caller's contract is the real function's.
        let made = unsafe { real(path, mode, old) };
        if path.is_null() {
            // Another mode for the same file.
            reopened(call, made, left.file);
        } else {
            // SAFETY: the real call took both strings.
            unsafe { opened(call, made, path, mode) };
        }
        made
    }
}

fn reopened(call: Call, made: *mut File, file: Option<u32>) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    let Some(file) = file else { return ended.skip(Loss::Excluded) };
    if made.is_null() {
        return ended.failed(file, 0, 0, errno);
    }
    // SAFETY: a stream that was just opened.
    let descriptor = unsafe { stream::descriptor(made) };
    stream::set(made, descriptor, file, 0);
    count(&ended, file, descriptor);
}

/// `fdopen(3)`: a stream over a descriptor, of the file that the descriptor has.
///
/// # Safety
/// The caller keeps the contract of `fdopen(3)`; every argument goes on untouched.
pub unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char, site: usize) -> *mut File {
    let call = Call::begin(Function::Fdopen, site);
    // SAFETY: the caller's contract is the real function's.
    let made = unsafe { real::fdopen(fd, mode) };
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return made };
    let file = stream::file_of(&ended, fd);
    if file == NO_FILE {
        if !made.is_null() {
            stream::set(made, fd, NO_FILE, 0);
        }
        ended.skip(Loss::Excluded);
    } else if made.is_null() {
        ended.failed(file, 0, u64::from(fd.cast_unsigned()), errno);
    } else {
        // SAFETY: a stream that was just opened.
        let position = unsafe { stream::position(made) }.unwrap_or(0);
        stream::set(made, fd, file, position);
        ended.with(&STDIO, file, |shard, _| shard.add::<{ stdio::FDOPENS }>(1));
        count(&ended, file, fd);
    }
    made
}

/// A stream without a path; all of them share one name.
fn nameless(call: Call, made: *mut File, name: Option<&[u8]>) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    let name = name.filter(|_| SETTINGS.records(&STDIO));
    let file = name.map_or(NO_FILE, |name| name::of(name, name::STREAM).0);
    if made.is_null() {
        return ended.failed(file, 0, 0, errno);
    }
    // SAFETY: a stream that was just opened.
    let descriptor = unsafe { stream::descriptor(made) };
    files::forget(descriptor);
    stream::set(made, descriptor, file, 0);
    if file == NO_FILE {
        return ended.skip(Loss::Excluded);
    }
    count(&ended, file, descriptor);
}

named! {
    /// `tmpfile(3)`: a file that never has a name.
    fn [tmpfile](site: usize) -> *mut File, real => {
        let call = Call::begin(Function::Tmpfile, site);
        // SAFETY: the caller's contract is the real function's.
        let made = unsafe { real() };
        nameless(call, made, Some(b"<TMPFILE>"));
        made
    }
}

/// `popen(3)`: a pipe, which has no file.
///
/// # Safety
/// The caller keeps the contract of `popen(3)`; every argument goes on untouched.
pub unsafe extern "C" fn popen(
    command: *const c_char,
    mode: *const c_char,
    site: usize,
) -> *mut File {
    let call = Call::begin(Function::Popen, site);
    // SAFETY: the caller's contract is the real function's.
    let made = unsafe { real::popen(command, mode) };
    nameless(call, made, None);
    made
}

/// What a stream leaves behind when it goes; afterwards its memory is libc's.
struct Left {
    file: Option<u32>,
    pending: Option<stream::Pending>,
}

/// Looks at a stream for the last time and forgets it.
///
/// # Safety
/// `old` is null or an open stream.
unsafe fn leave(old: *mut File) -> Left {
    // SAFETY: the caller vouches.
    unsafe { Left { pending: stream::pending(old), file: stream::detach(old) } }
}

/// Ends a close.
fn closed(call: Call, left: Left, done: c_int) {
    let errno = libc_real::errno();
    let Some(ended) = call.end_quietly() else { return };
    let Some(file) = left.file else { return ended.skip(Loss::Excluded) };
    stream::settle(&ended, file, left.pending);
    if done < 0 {
        return ended.failed(file, NO_OFFSET, 0, errno);
    }
    ended.with(&STDIO, file, |shard, ended| {
        shard.span::<{ stdio::CLOSE_START }, { stdio::CLOSE_END }, { stdio::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    ended.event(file, NO_OFFSET, 0);
}

named! {
    /// `fclose(3)`.
    fn [fclose](old: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fclose, site);
        // SAFETY: an open stream, by the caller's contract.
        let left = unsafe { leave(old) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(old) };
        closed(call, left, done);
        done
    }
}
named! {
    /// `pclose(3)`.
    fn [pclose](old: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Pclose, site);
        // SAFETY: an open stream, by the caller's contract.
        let left = unsafe { leave(old) };
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(old) };
        closed(call, left, done);
        done
    }
}

/// `fcloseall(3)`: libc closes the descriptors inside; a number that comes back is noticed by its
/// new owner.
///
/// # Safety
/// The caller keeps the contract of `fcloseall(3)`.
pub unsafe extern "C" fn fcloseall(site: usize) -> c_int {
    let call = Call::begin(Function::Fcloseall, site);
    // SAFETY: the caller's contract is the real function's.
    let done = unsafe { real::fcloseall() };
    if let Some(ended) = call.end_quietly() {
        ended.alone(NO_OFFSET, 0);
    }
    done
}

named! {
    /// `fileno(3)`: from here on the application may use the descriptor beside the stream, so it
    /// counts as an open of the file for POSIX, as Darshan has it.
    fn [fileno](of: *mut File, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Fileno, site);
        // SAFETY: the caller's contract is the real function's.
        let fd = unsafe { real(of) };
        if stream::is_standard(of) {
            // They have no path of their own.
            if let Some(ended) = call.end_quietly() {
                ended.skip(Loss::Excluded);
            }
            return fd;
        }
        let number = u64::from(fd.max(0).cast_unsigned());
        call.on_descriptor(fd, i64::from(fd), (NO_OFFSET, number), |shard, ended| {
            shard.add::<{ posix::OPENS }>(1);
            shard.add::<{ posix::FILENOS }>(1);
            shard.add::<{ posix::META_TIME }>(ended.took());
        });
        fd
    }
}
