//! A region that is being compressed into the output.

use crate::record::header::Compression;
use bzip2::write::BzEncoder;
use flate2::write::ZlibEncoder;
use std::fmt;
use std::io::{self, Write};

/// An output that knows how far it has come.
#[derive(Debug)]
pub(super) struct Counted<W> {
    out: W,
    position: u64,
}

impl<W: Write> Counted<W> {
    pub(super) fn new(out: W) -> Counted<W> {
        Counted { out, position: 0 }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The output, with a compressor in front of it or not.
pub(super) enum Region<W: Write> {
    Zlib(ZlibEncoder<Counted<W>>),
    Bzip2(BzEncoder<Counted<W>>),
    Plain(Counted<W>),
}

impl<W: Write> fmt::Debug for Region<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Region")
    }
}

impl<W: Write> Region<W> {
    pub(super) fn closed(out: Counted<W>) -> Region<W> {
        Region::Plain(out)
    }

    pub(super) fn open(out: Counted<W>, compression: Compression) -> Region<W> {
        match compression {
            Compression::Zlib => {
                Region::Zlib(ZlibEncoder::new(out, flate2::Compression::default()))
            }
            Compression::Bzip2 => Region::Bzip2(BzEncoder::new(out, bzip2::Compression::best())),
            Compression::None => Region::Plain(out),
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Region::Zlib(encoder) => encoder.write_all(bytes),
            Region::Bzip2(encoder) => encoder.write_all(bytes),
            Region::Plain(out) => out.write_all(bytes),
        }
    }

    pub(super) fn close(self) -> io::Result<Counted<W>> {
        match self {
            Region::Zlib(encoder) => encoder.finish(),
            Region::Bzip2(encoder) => encoder.finish(),
            Region::Plain(out) => Ok(out),
        }
    }
}
