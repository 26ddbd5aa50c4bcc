//! A buffer in front of the output.

use std::io::{self, Write};

/// Written out when it holds this much.
const FULL: usize = 256 << 10;

/// Lines on their way out.
pub struct Page<'a> {
    out: &'a mut dyn Write,
    pub(super) text: Vec<u8>,
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("waiting", &self.text.len()).finish_non_exhaustive()
    }
}

impl<'a> Page<'a> {
    /// An empty page in front of an output.
    pub fn new(out: &'a mut dyn Write) -> Page<'a> {
        Page { out, text: Vec::with_capacity(FULL + (16 << 10)) }
    }

    /// Appends text.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.text.extend_from_slice(text.as_ref());
        self.turn()
    }

    /// Appends a formatted line.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn line(&mut self, line: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.text.write_fmt(line)?;
        self.text.push(b'\n');
        self.turn()
    }

    /// Appends several pieces and ends the line.
    pub(super) fn join(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        for piece in pieces {
            self.text.extend_from_slice(piece);
        }
        self.text.push(b'\n');
        self.turn()
    }

    /// Writes out what is waiting, if it is enough.
    #[inline]
    pub(super) fn turn(&mut self) -> io::Result<()> {
        if self.text.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Writes out what is left.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.flush()
    }
}
