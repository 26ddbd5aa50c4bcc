//! The log at exit. `netra_darshan::encode` makes it; here are a file to take its bytes, memory to
//! sort in, and its place and name.

pub(crate) mod gather;
pub(crate) mod place;

use netra_darshan::encode::{self, Options};
use netra_event::segment::View;

use crate::arena::{ARENA, note};
use crate::settings::LONGEST_PATH;
use crate::sys::{self, Refused};
use crate::text::Text;
use gather::Gather;

/// Bytes of the buffer between the encoder and the file.
const BUFFER: usize = 64 << 10;
/// Bytes gathered before they are written: a small log takes one call.
const GATHERED: usize = 64 << 10;

/// Writes the log of this process; where it is.
///
/// # Errors
/// It could not be written; the segment is then what is left.
pub fn write() -> Result<Text<LONGEST_PATH>, Refused> {
    let bytes = ARENA.whole().ok_or(Refused(libc::ENOENT))?;
    let view = View::new(bytes).map_err(|_| Refused(libc::EINVAL))?;
    let words = encode::needed(&view);
    let mut memory = Memory::new(words)?;
    let (buffer, gathered, words) = memory.parts(words)?;
    let mut target = place::Target::create(&view)?;
    let mut file = target.file();
    let mut sink = Gather::new(&mut file, 0, gathered);
    let written = encode::log(view, Options::default(), &mut sink, words, buffer).is_ok();
    let done = if written && sink.flush() { target.keep() } else { Err(Refused(libc::EIO)) };
    if done.is_err() {
        target.discard();
        note(b"the log could not be written");
    }
    done.map(|()| target.path())
}

/// Memory of our own to write the log in. It goes with the process, which ends now: to give it back before
/// would only take time.
struct Memory {
    at: *mut u8,
    bytes: usize,
}

/// The encoder's buffer, the file's buffer, and words to sort in.
type Parts<'a> = (&'a mut [u8], &'a mut [u8], &'a mut [u64]);

impl Memory {
    fn new(words: usize) -> Result<Memory, Refused> {
        let bytes = words.saturating_mul(8).saturating_add(BUFFER).saturating_add(GATHERED);
        // SAFETY: anywhere.
        Ok(Memory { at: unsafe { sys::map_private(0, bytes) }?, bytes })
    }

    fn parts(&mut self, words: usize) -> Result<Parts<'_>, Refused> {
        let before = BUFFER.saturating_add(GATHERED);
        if words.saturating_mul(8).saturating_add(before) > self.bytes {
            return Err(Refused(libc::ENOMEM));
        }
        // SAFETY: the mapping is ours, zeroed, at least this large, and aligned to a page; the
        // parts do not overlap, and the borrow of `self` keeps them from being made twice.
        unsafe {
            let buffer = core::slice::from_raw_parts_mut(self.at, BUFFER);
            let gathered = core::slice::from_raw_parts_mut(self.at.add(BUFFER), GATHERED);
            let words = core::slice::from_raw_parts_mut(self.at.add(before).cast(), words);
            Ok((buffer, gathered, words))
        }
    }
}
