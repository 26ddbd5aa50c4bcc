//! Where an object lies: the file and the path inside it, put together from what calls were given.
//! A path is the one that was used; links are not followed, and nothing is searched.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, Ordering};

use super::Recorded;
use super::library::Id;
use crate::handle::{self, Described, Kind};
use crate::name;
use crate::text::Text;
use crate::tls::Thread;

/// The longest path inside a file; what is longer is cut.
const LONGEST: usize = 1024;

/// Whether a file was opened whose metadata is read by all ranks together: one rank alone may then not
/// make the library read any.
pub(super) static COLLECTIVE_METADATA: AtomicBool = AtomicBool::new(false);

/// Stands for an object that was opened without a path.
pub(super) const UNNAMED: &[u8] = b"/<unnamed>";

/// A file's path as the other layers know it, without the prefix that ROMIO takes off; none if it is
/// excluded.
///
/// # Safety
/// `given` is null or a C string.
pub(crate) unsafe fn file(thread: &Thread, given: *const c_char) -> Option<u32> {
    if given.is_null() {
        return None;
    }
    // SAFETY: the caller vouches.
    let text = unsafe { CStr::from_ptr(given) }.to_bytes();
    let prefix = text.iter().position(|&byte| byte == b':' || byte == b'/');
    let is_colon = |at: &usize| text.get(*at) == Some(&b':') && *at > 1;
    // SAFETY: as far as the colon the string is known.
    let path = match prefix.filter(is_colon) {
        Some(at) if !text.get(at..).is_some_and(|rest| rest.starts_with(b"://")) => {
            given.wrapping_add(at.wrapping_add(1))
        }
        _ => given,
    };
    // SAFETY: a C string, or its end.
    let path = unsafe { name::clean(thread, libc::AT_FDCWD, path) }?;
    (!name::excluded(path)).then(|| name::of(path, name::PATH).0)
}

/// The file and the path inside it that names are relative to.
struct Base {
    file: u32,
    path: Text<LONGEST>,
}

fn base(recorded: &Recorded, place: Id) -> Option<Base> {
    let mut path = Text::new();
    let file = match handle::find(recorded.library.key(place)) {
        Some(Described { kind: Kind::Attribute, file, .. }) => {
            path.push(UNNAMED);
            file
        }
        Some(known) => {
            path.push(name::within(known.file));
            name::file_of(known.file)
        }
        None => {
            let file = holding(recorded, place)?;
            let mut asked = [0_u8; LONGEST];
            path.push(ask(recorded, place, &mut asked).unwrap_or(UNNAMED));
            file
        }
    };
    Some(Base { file, path })
}

/// The path of a place that was opened out of our sight: a group that an iteration came to.
fn ask<'a>(recorded: &Recorded, place: Id, into: &'a mut [u8; LONGEST]) -> Option<&'a [u8]> {
    let library = recorded.library;
    let path = library.path()?;
    let mut length = 0;
    // Where any file's metadata is read collectively, nobody is asked alone.
    let there = !COLLECTIVE_METADATA.load(Ordering::Relaxed)
        && library.ask_quietly(|| {
            // SAFETY: an id of the application's, of whatever kind; the buffer has room.
            length = unsafe { path(place, into.as_mut_ptr().cast(), LONGEST) };
            length > 0
        });
    let length = usize::try_from(length).ok().filter(|&length| there && length < LONGEST)?;
    into.get(..length).filter(|path| path.first() == Some(&b'/'))
}

/// The file that an object lies in, known or asked for; none if it is excluded.
pub(super) fn holding(recorded: &Recorded, object: Id) -> Option<u32> {
    let library = recorded.library;
    if let Some(known) = handle::find(library.key(object)) {
        return Some(name::file_of(known.file));
    }
    if !recorded.succeeded {
        return None;
    }
    let mut given = [0_u8; 1024];
    let room = given.len().wrapping_sub(1);
    // SAFETY: the call that was given this id succeeded; the buffer has room, and a NUL behind.
    let length =
        unsafe { library.file_name()?(library.id(object), given.as_mut_ptr().cast(), room) };
    let fits = usize::try_from(length).is_ok_and(|length| length != 0 && length < room);
    // SAFETY: the library wrote a C string.
    if fits { unsafe { file(recorded.thread, given.as_ptr().cast()) } } else { None }
}

/// The row of an object: where names are relative to, and its name. None if the file is excluded.
///
/// # Safety
/// `name` is null or a C string that the real call took.
pub(super) unsafe fn object(recorded: &Recorded, place: Id, name: *const c_char) -> Option<u32> {
    let base = base(recorded, place)?;
    if name.is_null() {
        return Some(name::object(base.file, UNNAMED));
    }
    // SAFETY: the caller vouches.
    let given = unsafe { CStr::from_ptr(name) }.to_bytes();
    let mut path = Text::<LONGEST>::new();
    if given.first() != Some(&b'/') && base.path.bytes() != b"/" {
        path.push(base.path.bytes());
    }
    for part in given.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        path.push(b"/").push(part);
    }
    if path.bytes().is_empty() {
        path.push(b"/");
    }
    Some(name::object(base.file, path.bytes()))
}
