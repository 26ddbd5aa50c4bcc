//! Frames out of a stream of bytes. Room is made for a body as it comes, never for what a head merely
//! claims beyond the limit.

use std::io::{self, Read, Write};

use netra_event::frame::{Flaw, HEAD_BYTES, Kind, MAGIC, Producer};

use crate::frame::{self, Subject};

/// Bytes that are read at once.
const AT_ONCE: usize = 128 << 10;

/// Bytes that a frame of somebody may have who has not said who they are.
const OF_STRANGERS: usize = 64 << 10;

/// Reads frames.
#[derive(Debug)]
pub struct Frames {
    bytes: Vec<u8>,
    at: usize,
    filled: usize,
    most: usize,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { bytes: Vec::new(), at: 0, filled: 0, most: usize::MAX }
    }
}

impl Frames {
    /// For a peer that nobody knows yet: only small frames are taken.
    #[must_use]
    pub fn of_stranger() -> Frames {
        Frames { most: OF_STRANGERS, ..Frames::default() }
    }

    /// The peer is known: frames may be as large as any.
    pub fn trust(&mut self) {
        self.most = usize::MAX;
    }

    /// Whether a whole frame is at hand without reading more.
    #[must_use]
    pub fn has_frame(&self) -> bool {
        let rest = &self.bytes[self.at..self.filled];
        matches!(frame::peek(rest), Ok(Some(head)) if frame::length(&head) <= rest.len())
    }

    /// The next frame, checked; none at the end of the stream.
    ///
    /// # Errors
    /// The bytes are no frame, the stream ends in the middle of one, or it can not be read.
    pub fn next(&mut self, from: &mut impl Read) -> io::Result<Option<&[u8]>> {
        let invalid = |error: frame::Error| io::Error::new(io::ErrorKind::InvalidData, error);
        loop {
            let rest = &self.bytes[self.at..self.filled];
            // Whoever speaks something else is noticed at the first byte, not when enough came.
            let begun = rest.len().min(MAGIC.len());
            if rest[..begun] != MAGIC[..begun] {
                return Err(invalid(Flaw::Magic.into()));
            }
            let needed = match frame::peek(rest).map_err(|flaw| invalid(flaw.into()))? {
                Some(head) => frame::length(&head),
                None => HEAD_BYTES,
            };
            if needed > self.most {
                let said = format!("a frame of {needed} bytes before the greeting was over");
                return Err(io::Error::new(io::ErrorKind::InvalidData, said));
            }
            if rest.len() >= needed {
                let begin = self.at;
                frame::check(&self.bytes[begin..begin + needed]).map_err(invalid)?;
                self.at += needed;
                return Ok(Some(&self.bytes[begin..begin + needed]));
            }
            if !self.more(from, needed)? {
                return match self.filled > self.at {
                    true => Err(io::ErrorKind::UnexpectedEof.into()),
                    false => Ok(None),
                };
            }
        }
    }

    /// Reads more, with room for a frame of `needed` bytes; false at the end of the stream.
    fn more(&mut self, from: &mut impl Read, needed: usize) -> io::Result<bool> {
        if self.at > 0 {
            self.bytes.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
        }
        // A large frame gets its room step by step, as its bytes come.
        let room = (self.filled + AT_ONCE).min(needed.max(AT_ONCE));
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        let read = from.read(&mut self.bytes[self.filled..])?;
        self.filled += read;
        Ok(read > 0)
    }
}

/// Sends what only daemons say to each other.
///
/// # Errors
/// It can not be sent.
pub fn send_control(to: &mut impl Write, kind: Kind, body: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame::seal(&Subject::single(kind, Producer::default(), 0, 0, 0), body, &mut bytes)
        .map_err(io::Error::other)?;
    to.write_all(&bytes)
}

/// Reads what only daemons say to each other: its kind and its body.
///
/// # Errors
/// Nothing comes, or something else.
pub fn read_control(frames: &mut Frames, from: &mut impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let bytes = frames.next(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let (head, body) = frame::open(bytes).map_err(io::Error::other)?;
    if !head.kind.is_control() {
        let said = format!("a {} frame before the greeting was over", head.kind.slug());
        return Err(io::Error::new(io::ErrorKind::InvalidData, said));
    }
    Ok((head.kind, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(bytes.len());
            bytes[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn frames() -> Vec<u8> {
        let mut bytes = Vec::new();
        send_control(&mut bytes, Kind::Ping, b"").unwrap();
        send_control(&mut bytes, Kind::Ack, &[7; 300_000]).unwrap();
        send_control(&mut bytes, Kind::Ack, b"abc").unwrap();
        bytes
    }

    #[test]
    fn frames_come_out_whole_however_bytes_come_in() {
        let bytes = frames();
        for step in [1, 71, 72, 73, 4096, usize::MAX] {
            let (mut stream, mut frames) = (Dribble(&bytes, step), Frames::default());
            let mut next = || frames.next(&mut stream).unwrap().map(<[u8]>::to_vec);
            assert_eq!(next().map(|f| frame::open(&f).unwrap().1), Some(vec![]));
            assert_eq!(next().map(|f| frame::open(&f).unwrap().1), Some(vec![7; 300_000]));
            assert_eq!(next().map(|f| frame::open(&f).unwrap().1), Some(b"abc".to_vec()));
            assert_eq!(next(), None);
        }
    }

    #[test]
    fn garbage_and_cuts_are_errors() {
        let bytes = frames();
        let read = |bytes: &[u8]| Frames::default().next(&mut &*bytes).map(|_| ());
        assert_eq!(read(b"GET / HTTP/1.1").unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&[b'x'; 100]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&bytes[..71]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let mut frames = Frames::default();
        let mut stream = &bytes[..bytes.len() - 1];
        assert!(frames.next(&mut stream).is_ok() && frames.next(&mut stream).is_ok());
        assert!(frames.next(&mut stream).is_err());
    }
}
