//! Which file a stream belongs to, where its position is, and how its calls are recorded.
//!
//! Streams are found by the number of their descriptor, which glibc keeps at a fixed place of every
//! `FILE`; the entry names its owner, so a number that moved on to another stream is noticed. A
//! stream we did not see being opened (inherited over fork, made by a call we do not hook) is
//! adopted by the name the kernel gives it; the three standard streams have names of their own.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::segment::OTHER_FILE;
use netra_event::segment::shard::stdio;
use netra_event::{Function, Loss, NO_FILE};

use crate::call::{Call, Ended, Traced, let_in};
use crate::files;
use crate::heatmap;
use crate::lane;
use crate::memory;
use crate::module::STDIO;
use crate::name;
use crate::real as libc_real;
use crate::sandbox;
use crate::settings::SETTINGS;
use crate::shard;
use crate::time;
use crate::tls::{self, Thread};

crate::real! {
    /// Where a stream stands; flushes nothing.
    fn ftello(stream: *mut File) -> i64, else -1;
}

/// The head of glibc's `FILE`. Macros of `<stdio.h>` that programs were compiled with reach into
/// it, so its places never move.
#[repr(C)]
pub struct File {
    flags: c_int,
    pointers: [*mut c_char; 11],
    markers: *mut c_void,
    chain: *mut c_void,
    fileno: c_int,
}

const _: () = assert!(core::mem::offset_of!(File, fileno) == 112);

/// Set in a `FILE` after an error.
const ERROR_SEEN: c_int = 0x20;
/// Set in a `FILE` while its buffer holds bytes to write.
const PUTTING: c_int = 0x800;
/// Set in a `FILE` whose writes go to the end, wherever its position was.
const APPENDS: c_int = 0x1000;

unsafe extern "C" {
    static stdin: *mut File;
    static stdout: *mut File;
    static stderr: *mut File;
}

/// What is known of a stream, by the number of its descriptor.
#[derive(Default)]
pub struct Stream {
    owner: AtomicUsize,
    file: AtomicU32,
    /// 1 when macros of `<stdio.h>` have asked for a new buffer: they move bytes without a call.
    inlined: AtomicU32,
    position: AtomicU64,
}

/// The standard output, for calls that name no stream.
#[must_use]
pub fn standard_output() -> *mut File {
    // SAFETY: libc sets the variable before any code of ours runs; a copy in the executable is what
    // the loader gives us.
    unsafe { (&raw const stdout).read() }
}

/// The standard input.
#[must_use]
pub fn standard_input() -> *mut File {
    // SAFETY: as above.
    unsafe { (&raw const stdin).read() }
}

fn standard_error() -> *mut File {
    // SAFETY: as above.
    unsafe { (&raw const stderr).read() }
}

/// The descriptor of a stream; negative if it has none.
///
/// # Safety
/// `stream` is null or an open stream.
#[must_use]
pub unsafe fn descriptor(stream: *mut File) -> c_int {
    if stream.is_null() {
        return -1;
    }
    // SAFETY: the caller vouches; every `FILE` of glibc has this head.
    unsafe { (&raw const (*stream).fileno).read() }
}

/// # Safety
/// `stream` is an open stream.
unsafe fn flags(stream: *mut File) -> c_int {
    // SAFETY: the caller vouches.
    unsafe { (&raw const (*stream).flags).read() }
}

/// Bytes of a stream's buffer.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn buffer_bytes(stream: *mut File) -> u64 {
    // SAFETY: the caller vouches.
    let [.., base, end, _, _, _] = unsafe { (&raw const (*stream).pointers).read() };
    end.addr().wrapping_sub(base.addr()) as u64
}

fn entry(descriptor: c_int) -> Option<&'static Stream> {
    memory::stream(descriptor)
}

/// The entry of a stream we know.
///
/// # Safety
/// `stream` is null or an open stream.
unsafe fn known(stream: *mut File) -> Option<&'static Stream> {
    // SAFETY: the caller vouches.
    let found = entry(unsafe { descriptor(stream) })?;
    (found.owner.load(Ordering::Acquire) == stream.addr()).then_some(found)
}

/// The entry of a stream, known or adopted; `moved` bytes have passed since the position we can
/// ask for now was right.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn of(ended: &Ended, stream: *mut File, moved: u64) -> Option<&'static Stream> {
    // SAFETY: the caller vouches.
    unsafe { known(stream).or_else(|| adopt(ended, stream, moved)) }
        .filter(|found| found.file.load(Ordering::Relaxed) != NO_FILE)
}

#[cold]
#[inline(never)]
unsafe fn adopt(ended: &Ended, stream: *mut File, moved: u64) -> Option<&'static Stream> {
    // SAFETY: the caller vouches.
    let descriptor = unsafe { descriptor(stream) };
    let standard = match stream {
        _ if stream == standard_input() => Some(b"<STDIN>".as_slice()),
        _ if stream == standard_output() => Some(b"<STDOUT>".as_slice()),
        _ if stream == standard_error() => Some(b"<STDERR>".as_slice()),
        _ => None,
    };
    let file = match standard {
        Some(name) => name::of(name, name::STREAM).0,
        None => file_of(ended, descriptor),
    };
    // SAFETY: an open stream; asking moves nothing.
    let position = unsafe { position(stream) }.unwrap_or(0).saturating_sub(moved);
    let found = set(stream, descriptor, file, position)?;
    if standard.is_some() && SETTINGS.records(&STDIO) {
        // They were open before us, which counts once, as Darshan has it.
        ended.with(&STDIO, file, |shard, _| shard.add::<{ stdio::OPENS }>(1));
    }
    Some(found)
}

/// The file behind a descriptor, by its path; none for pipes, sockets and excluded files.
pub fn file_of(ended: &Ended, descriptor: c_int) -> u32 {
    // SAFETY: the buffer belongs to this thread, which does one thing at a time (the busy mark).
    let buffer = unsafe { &mut *ended.thread.path.get() };
    let path = files::path_of(descriptor, buffer).and_then(|length| buffer.get(..length));
    match path.filter(|path| SETTINGS.records(&STDIO) && !name::excluded(path)) {
        Some(path) => name::of(path, name::PATH).0,
        None => NO_FILE,
    }
}

/// Whether a stream is one of the three that every process has.
#[must_use]
pub fn is_standard(stream: *mut File) -> bool {
    [standard_input(), standard_output(), standard_error()].contains(&stream)
}

/// Enters a stream under its descriptor.
pub fn set(
    stream: *mut File,
    descriptor: c_int,
    file: u32,
    position: u64,
) -> Option<&'static Stream> {
    if file == OTHER_FILE {
        shard::partial(&STDIO);
    }
    let found = entry(descriptor)?;
    found.owner.store(0, Ordering::Relaxed);
    found.file.store(file, Ordering::Relaxed);
    found.inlined.store(0, Ordering::Relaxed);
    found.position.store(position, Ordering::Relaxed);
    // Pairs with the Acquire in `known`: whoever sees the owner sees the rest.
    found.owner.store(stream.addr(), Ordering::Release);
    Some(found)
}

/// Forgets a stream that is about to be closed; the file it belonged to.
///
/// # Safety
/// `stream` is null or an open stream.
pub unsafe fn detach(stream: *mut File) -> Option<u32> {
    if tls::slot().borrowed.get() != 0 {
        return None;
    }
    // SAFETY: the caller vouches.
    let (descriptor, found) = unsafe { (descriptor(stream), known(stream)) };
    files::forget(descriptor);
    let found = found?;
    found.owner.store(0, Ordering::Release);
    Some(found.file.load(Ordering::Relaxed)).filter(|&file| file != NO_FILE)
}

/// Where a stream stands, if it can be asked; errno stays.
///
/// # Safety
/// `stream` is an open stream.
#[must_use]
pub unsafe fn position(stream: *mut File) -> Option<u64> {
    // libc may have to ask the kernel.
    if !sandbox::may_seek() {
        return None;
    }
    let errno = libc_real::errno();
    // SAFETY: the caller vouches.
    let at = unsafe { ftello(stream) };
    if at < 0 {
        libc_real::set_errno(errno);
    }
    u64::try_from(at).ok()
}

/// The position before a call whose result does not tell its bytes: formatted input and wide
/// characters. Only streams of files are asked, pipes would cost a system call for nothing.
///
/// # Safety
/// `stream` is null or an open stream.
#[must_use]
pub unsafe fn position_before(stream: *mut File) -> Option<u64> {
    // SAFETY: the caller vouches.
    unsafe {
        let found = known(stream);
        let a_file = match found {
            Some(found) => found.file.load(Ordering::Relaxed) != NO_FILE,
            None => descriptor(stream) > 2,
        };
        let standard = descriptor(stream) <= 2;
        if a_file && !standard { position(stream) } else { None }
    }
}

/// The bytes since then.
///
/// # Safety
/// `stream` is null or an open stream.
#[must_use]
pub unsafe fn bytes_since(stream: *mut File, before: Option<u64>) -> u64 {
    let Some(before) = before else { return 0 };
    // SAFETY: the caller vouches.
    unsafe { position(stream) }.map_or(0, |after| after.saturating_sub(before))
}

/// Ends a call that moves bytes; none moved means the end of the file, or an error. As a read or write
/// on a descriptor (`transfer.rs`), one of a thread and a stream that are known is recorded right here.
///
/// # Safety
/// `stream` is an open stream.
#[inline(always)]
pub unsafe fn moved<const WRITE: bool>(
    call: Call,
    stream: *mut File,
    asked: u64,
    bytes: Option<u64>,
) {
    let end = time::now();
    let slot = tls::slot();
    // SAFETY: the caller vouches.
    if let Some(found) = unsafe { known(stream) }
        && let Some(bytes) = bytes
        && let Some(thread) = slot.free()
    {
        let file = found.file.load(Ordering::Relaxed);
        call.keep_out(slot, thread);
        if file == NO_FILE {
            lane::drop_excluded(thread);
        } else {
            let offset = files::go_on(&found.position, bytes);
            count::<WRITE>(thread, file, (call.start, end), (offset, bytes));
            let (offset, result) = (offset.cast_signed(), bytes.cast_signed());
            call.event(thread, end, Traced { file, offset, length: asked, result });
        }
        let_in(slot, thread);
    } else {
        // Single values: what is passed by reference would be stored on the hot path too.
        let Call { function, site, start } = call;
        // SAFETY: the caller vouches.
        unsafe { moved_slowly::<WRITE>(function, site, start, stream, asked, bytes, end) };
    }
}

/// The same for a call that moved nothing, or whose stream or thread is new.
///
/// # Safety
/// `stream` is an open stream.
#[cold]
#[inline(never)]
unsafe fn moved_slowly<const WRITE: bool>(
    function: Function,
    site: usize,
    start: u64,
    stream: *mut File,
    asked: u64,
    bytes: Option<u64>,
    end: u64,
) {
    let errno = libc_real::errno();
    let call = Call { function, site, start };
    let Some(ended) = call.end_at(end) else { return };
    // SAFETY: the caller vouches.
    let Some(found) = (unsafe { of(&ended, stream, bytes.unwrap_or(0)) }) else {
        return ended.skip(Loss::Excluded);
    };
    let file = found.file.load(Ordering::Relaxed);
    let Some(bytes) = bytes else {
        let at = found.position.load(Ordering::Relaxed).cast_signed();
        // SAFETY: the caller vouches.
        return if unsafe { flags(stream) } & ERROR_SEEN != 0 {
            ended.failed(file, at, asked, errno)
        } else {
            ended.event_with(file, at, asked, 0)
        };
    };
    let offset = files::go_on(&found.position, bytes);
    count::<WRITE>(ended.thread, file, (start, end), (offset, bytes));
    ended.event_with(file, offset.cast_signed(), asked, bytes.cast_signed());
}

/// Counts bytes in the record and over time.
#[inline(always)]
fn count<const WRITE: bool>(
    thread: &Thread,
    file: u32,
    (start, end): (u64, u64),
    (offset, bytes): (u64, u64),
) {
    macro_rules! direction {
        ($shard:ident, $at:expr) => {{
            $shard.add::<{ $at + stdio::CALLS }>(1);
            $shard.add::<{ $at + stdio::BYTES }>(bytes);
            $shard.raise::<{ $at + stdio::MAX_BYTE }>(offset.wrapping_add(bytes).saturating_sub(1));
            $shard.span::<{ $at + stdio::START }, { $at + stdio::END }, { $at + stdio::TIME }>(
                start, end,
            );
        }};
    }
    if let Some(shard) = shard::of(thread, &STDIO, file) {
        if WRITE {
            direction!(shard, stdio::WRITE);
        } else {
            direction!(shard, stdio::READ);
        }
    }
    heatmap::add::<WRITE>(thread, &STDIO, start, end, bytes);
}

/// Ends a refill or a flush that the macros of `<stdio.h>` asked for: one call, and the bytes that
/// the position went on since the last one.
///
/// # Safety
/// `stream` is an open stream.
pub unsafe fn inlined<const WRITE: bool>(call: Call, stream: *mut File) {
    let Some(ended) = call.end() else { return };
    // SAFETY: the caller vouches.
    let Some(found) = (unsafe { of(&ended, stream, 1) }) else {
        return ended.skip(Loss::Excluded);
    };
    found.inlined.store(1, Ordering::Relaxed);
    let offset = found.position.load(Ordering::Relaxed);
    // SAFETY: the caller vouches.
    let now = unsafe { position(stream) }.unwrap_or(offset.wrapping_add(1));
    let bytes = now.saturating_sub(offset);
    found.position.store(now, Ordering::Relaxed);
    let file = found.file.load(Ordering::Relaxed);
    count::<WRITE>(ended.thread, file, (ended.start(), ended.end), (offset, bytes));
    ended.event(file, offset.cast_signed(), bytes);
}

/// Ends a refill that gave nothing: the end of the file. What macros took before it counts.
///
/// # Safety
/// `stream` is an open stream.
pub unsafe fn drained(call: Call, stream: *mut File) {
    // SAFETY: the caller vouches.
    unsafe {
        let pending = pending(stream);
        touched(call, stream, pending, true, |_, _| ());
    }
}

/// Ends a call that put a byte back into the stream.
///
/// # Safety
/// `stream` is an open stream.
pub unsafe fn put_back(call: Call, stream: *mut File, done: bool) {
    // SAFETY: the caller vouches.
    if done && let Some(found) = unsafe { known(stream) } {
        // A byte put back before the first one was read leaves the position below zero: it wraps,
        // and comes back with the next byte.
        found.position.fetch_sub(1, Ordering::Relaxed);
    }
    // SAFETY: the caller vouches.
    unsafe { touched(call, stream, None, done, |_, _| ()) };
}

/// Bytes that macros moved since the last call we saw.
pub struct Pending {
    bytes: u64,
    last: u64,
    putting: bool,
}

/// Asks for them, before the position moves or the stream goes.
///
/// # Safety
/// `stream` is null or an open stream.
#[must_use]
pub unsafe fn pending(stream: *mut File) -> Option<Pending> {
    // SAFETY: the caller vouches.
    let found = unsafe { known(stream) }?;
    let file = found.file.load(Ordering::Relaxed);
    if file == NO_FILE || is_standard(stream) || tls::slot().borrowed.get() != 0 {
        return None;
    }
    // SAFETY: the caller vouches.
    let (flags, buffer) = unsafe { (flags(stream), buffer_bytes(stream)) };
    if flags & APPENDS != 0 {
        return None;
    }
    // SAFETY: the caller vouches.
    let now = unsafe { position(stream) }?;
    let before = found.position.swap(now, Ordering::Relaxed);
    // Macros reach no further than the buffer unless they ask for the next one; a larger step is
    // somebody else who moved the descriptor.
    let most = if found.inlined.load(Ordering::Relaxed) == 0 { buffer } else { u64::MAX };
    let bytes = now.checked_sub(before).filter(|&bytes| bytes > 0 && bytes <= most)?;
    Some(Pending { bytes, last: now.saturating_sub(1), putting: flags & PUTTING != 0 })
}

/// Accounts for them.
pub fn settle(ended: &Ended, file: u32, pending: Option<Pending>) {
    let Some(Pending { bytes, last, putting }) = pending else { return };
    ended.with(&STDIO, file, |shard, _| {
        if putting {
            shard.add::<{ stdio::WRITE + stdio::BYTES }>(bytes);
            shard.raise::<{ stdio::WRITE + stdio::MAX_BYTE }>(last);
        } else {
            shard.add::<{ stdio::READ + stdio::BYTES }>(bytes);
            shard.raise::<{ stdio::READ + stdio::MAX_BYTE }>(last);
        }
    });
}

/// Ends a call that moves the position; `to` is where it is now.
///
/// # Safety
/// `stream` is an open stream.
pub unsafe fn sought(
    call: Call,
    stream: *mut File,
    pending: Option<Pending>,
    done: bool,
    to: Option<u64>,
) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    // SAFETY: the caller vouches.
    let Some(found) = (unsafe { of(&ended, stream, 0) }) else {
        return ended.skip(Loss::Excluded);
    };
    let file = found.file.load(Ordering::Relaxed);
    if !done {
        return ended.failed(file, netra_event::NO_OFFSET, 0, errno);
    }
    settle(&ended, file, pending);
    let now = to.unwrap_or_else(|| found.position.load(Ordering::Relaxed));
    found.position.store(now, Ordering::Relaxed);
    ended.with(&STDIO, file, |shard, ended| {
        shard.add::<{ stdio::SEEKS }>(1);
        shard.add::<{ stdio::META_TIME }>(ended.took());
    });
    ended.event(file, now.cast_signed(), 0);
}

/// Ends a call on a stream that moves nothing; `count` adds to the record if it succeeded.
///
/// # Safety
/// `stream` is an open stream.
pub unsafe fn touched(
    call: Call,
    stream: *mut File,
    pending: Option<Pending>,
    done: bool,
    count: impl FnOnce(&shard::Shard, &Ended),
) {
    let errno = libc_real::errno();
    let Some(ended) = call.end_unless_child() else { return };
    // SAFETY: the caller vouches.
    let Some(found) = (unsafe { of(&ended, stream, 0) }) else {
        return ended.skip(Loss::Excluded);
    };
    let file = found.file.load(Ordering::Relaxed);
    if !done {
        return ended.failed(file, netra_event::NO_OFFSET, 0, errno);
    }
    settle(&ended, file, pending);
    ended.with(&STDIO, file, count);
    ended.event(file, netra_event::NO_OFFSET, 0);
}
