//! The log at exit. `netra_darshan::encode` makes it; here are a file to take its bytes, memory to
//! sort in, and its place and name.

mod place;

use netra_darshan::encode::{self, Options, Sink};
use netra_event::segment::View;

use crate::arena::{ARENA, note};
use crate::sys::{self, Descriptor, Refused};

/// Bytes of the buffer between the encoder and the file.
const BUFFER: usize = 64 << 10;

/// Writes the log of this process.
///
/// # Errors
/// It could not be written; the segment is then what is left.
pub fn write() -> Result<(), Refused> {
    let bytes = ARENA.whole().ok_or(Refused(libc::ENOENT))?;
    let view = View::new(bytes).map_err(|_| Refused(libc::EINVAL))?;
    let words = encode::needed(&view);
    let room = words.saturating_mul(8).saturating_add(BUFFER);
    let mut memory = Memory::new(room)?;
    let (buffer, words) = memory.parts(words)?;
    let mut target = place::Target::create(&view)?;
    let mut sink = File { file: target.file(), at: 0 };
    let written = encode::log(view, Options::default(), &mut sink, words, buffer);
    let done = match written {
        Ok(()) => target.keep(),
        Err(_) => Err(Refused(libc::EIO)),
    };
    if done.is_err() {
        target.discard();
        note(b"the log could not be written");
    }
    done
}

/// A file that takes the log's bytes. The encoder's pieces are large: nothing is gathered here.
struct File<'a> {
    file: &'a Descriptor,
    at: u64,
}

impl Sink for File<'_> {
    fn write(&mut self, bytes: &[u8]) -> bool {
        let end = self.at.saturating_add(bytes.len() as u64);
        let done = sys::file_size_allowed(end) && self.file.write_at(bytes, self.at).is_ok();
        self.at = end;
        done
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        self.file.write_at(bytes, at).is_ok()
    }
}

/// Memory of our own for as long as the log is written.
struct Memory {
    at: *mut u8,
    bytes: usize,
}

impl Memory {
    fn new(bytes: usize) -> Result<Memory, Refused> {
        // SAFETY: anywhere.
        Ok(Memory { at: unsafe { sys::map_private(0, bytes) }?, bytes })
    }

    /// The buffer, and the words behind it.
    fn parts(&mut self, words: usize) -> Result<(&mut [u8], &mut [u64]), Refused> {
        let fits = words.saturating_mul(8).saturating_add(BUFFER) <= self.bytes;
        if !fits {
            return Err(Refused(libc::ENOMEM));
        }
        // SAFETY: the mapping is ours, zeroed, at least this large, and aligned to a page; the
        // borrow of `self` keeps both parts from being made twice.
        unsafe {
            let buffer = core::slice::from_raw_parts_mut(self.at, BUFFER);
            let words = core::slice::from_raw_parts_mut(self.at.add(BUFFER).cast(), words);
            Ok((buffer, words))
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the parts' borrows have ended.
        unsafe { sys::unmap(self.at, self.bytes) };
    }
}
