//! The log at exit. `netra_darshan::encode` makes it; here are a file to take its bytes, memory to
//! sort in, and its place and name.

mod place;

use netra_darshan::encode::{self, Options, Sink};
use netra_event::segment::View;

use crate::arena::{ARENA, note};
use crate::sys::{self, Descriptor, Refused};

/// Bytes of the buffer between the encoder and the file.
const BUFFER: usize = 64 << 10;
/// Bytes gathered before they are written: a small log takes one call.
const GATHERED: usize = 64 << 10;

/// Writes the log of this process.
///
/// # Errors
/// It could not be written; the segment is then what is left.
pub fn write() -> Result<(), Refused> {
    let bytes = ARENA.whole().ok_or(Refused(libc::ENOENT))?;
    let view = View::new(bytes).map_err(|_| Refused(libc::EINVAL))?;
    let words = encode::needed(&view);
    let mut memory = Memory::new(words)?;
    let (buffer, gathered, words) = memory.parts(words)?;
    let mut target = place::Target::create(&view)?;
    let mut sink = File { file: target.file(), at: 0, gathered, held: 0 };
    let written = encode::log(view, Options::default(), &mut sink, words, buffer).is_ok();
    let done = if written && sink.flush() { target.keep() } else { Err(Refused(libc::EIO)) };
    if done.is_err() {
        target.discard();
        note(b"the log could not be written");
    }
    done
}

/// A file that takes the log's bytes, and gathers small pieces.
struct File<'a> {
    file: &'a Descriptor,
    /// Where the gathered bytes go.
    at: u64,
    gathered: &'a mut [u8],
    held: usize,
}

impl File<'_> {
    fn flush(&mut self) -> bool {
        let bytes = self.gathered.get(..self.held).unwrap_or_default();
        let end = self.at.saturating_add(bytes.len() as u64);
        let done = sys::file_size_allowed(end) && self.file.write_at(bytes, self.at).is_ok();
        self.at = end;
        self.held = 0;
        done
    }
}

impl Sink for File<'_> {
    fn write(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.gathered.get_mut(self.held..).unwrap_or_default();
            let take = rest.len().min(room.len());
            for (to, from) in room.iter_mut().zip(rest) {
                *to = *from;
            }
            self.held = self.held.saturating_add(take);
            rest = rest.get(take..).unwrap_or_default();
            if !rest.is_empty() && !self.flush() {
                return false;
            }
        }
        true
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        // What is still here is changed here.
        let held = at.checked_sub(self.at).and_then(|at| usize::try_from(at).ok());
        let place = held.and_then(|from| {
            self.gathered.get_mut(..self.held)?.get_mut(from..from.checked_add(bytes.len())?)
        });
        if let Some(place) = place {
            place.copy_from_slice(bytes);
            return true;
        }
        self.flush() && self.file.write_at(bytes, at).is_ok()
    }
}

/// Memory of our own for as long as the log is written.
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

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the parts' borrows have ended.
        unsafe { sys::unmap(self.at, self.bytes) };
    }
}
