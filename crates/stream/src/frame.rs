//! Frames as bytes: sealed with their checksums, packed where that helps, and opened again without
//! believing anything in them.

use netra_event::frame::{Flaw, HEAD_BYTES, Head, Kind, LARGEST_BODY, Packing, Producer};

/// What a frame is about: its head without what sealing finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// What the body is.
    pub kind: Kind,
    /// Who made it.
    pub producer: Producer,
    /// The lane or row.
    pub lane: u32,
    /// Index of the first item.
    pub from: u64,
    /// Items.
    pub count: u32,
    /// Events among them.
    pub events: u32,
    /// When it is made, nanoseconds since 1970.
    pub time: u64,
}

impl Subject {
    /// One item of a kind that has no events.
    #[must_use]
    pub fn single(kind: Kind, producer: Producer, lane: u32, from: u64, time: u64) -> Subject {
        Subject { kind, producer, lane, from, count: 1, events: 1, time }
    }
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The head is none.
    #[error(transparent)]
    Head(#[from] Flaw),
    /// There are fewer bytes than the head says.
    #[error("a frame of {expected} bytes is cut after {found}")]
    Cut {
        /// Bytes the frame should have.
        expected: usize,
        /// Bytes there are.
        found: usize,
    },
    /// The body is not what was sent.
    #[error("the checksum of a frame's body does not match")]
    Sum,
    /// The body can not be unpacked to the length that was said.
    #[error("a frame's body can not be unpacked")]
    Packing,
    /// More than a frame holds.
    #[error("{found} bytes are too much for a frame; at most {LARGEST_BODY} are taken")]
    TooLarge {
        /// How many there are.
        found: usize,
    },
}

/// Below this packing saves nothing worth its time.
const WORTH_PACKING: usize = 256;

/// Appends a frame to `out`; says how long it is.
///
/// # Errors
/// The body is too large for one frame.
pub fn seal(subject: &Subject, body: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
    let raw = u32::try_from(body.len()).ok().filter(|&raw| raw <= LARGEST_BODY);
    let raw = raw.ok_or(Error::TooLarge { found: body.len() })?;
    let begin = out.len();
    out.resize(begin + HEAD_BYTES, 0);
    let packing = pack(body, out);
    let stored = &out[begin + HEAD_BYTES..];
    let head = Head {
        kind: subject.kind,
        packing,
        // Never longer than the body, which fits.
        stored: stored.len() as u32,
        raw,
        producer: subject.producer,
        lane: subject.lane,
        from: subject.from,
        count: subject.count,
        events: subject.events,
        time: subject.time,
        body_sum: crc32fast::hash(stored),
    };
    out[begin..begin + HEAD_BYTES].copy_from_slice(&head.encode(crc32fast::hash));
    Ok(out.len() - begin)
}

/// Appends the body, packed if that makes it shorter.
fn pack(body: &[u8], out: &mut Vec<u8>) -> Packing {
    let begin = out.len();
    if body.len() >= WORTH_PACKING {
        out.resize(begin + lz4_flex::block::get_maximum_output_size(body.len()), 0);
        match lz4_flex::block::compress_into(body, &mut out[begin..]) {
            Ok(length) if length < body.len() => {
                out.truncate(begin + length);
                return Packing::Lz4;
            }
            _ => out.truncate(begin),
        }
    }
    out.extend_from_slice(body);
    Packing::Plain
}

/// Reads the head that `bytes` begin with; none if there are too few yet.
///
/// # Errors
/// It is no frame of ours.
pub fn peek(bytes: &[u8]) -> Result<Option<Head>, Flaw> {
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    Head::decode(head, crc32fast::hash).map(Some)
}

/// Bytes of the whole frame with this head.
#[must_use]
pub fn length(head: &Head) -> usize {
    HEAD_BYTES + head.stored as usize
}

/// Checks a whole frame, without unpacking it.
///
/// # Errors
/// It is not what was sent.
pub fn check(bytes: &[u8]) -> Result<Head, Error> {
    let found = bytes.len();
    let head = peek(bytes)?.ok_or(Error::Cut { expected: HEAD_BYTES, found })?;
    let expected = length(&head);
    let body = bytes.get(HEAD_BYTES..expected).ok_or(Error::Cut { expected, found })?;
    if crc32fast::hash(body) != head.body_sum {
        return Err(Error::Sum);
    }
    Ok(head)
}

/// Unpacks the body of a frame that was checked into `out`, which is emptied first.
///
/// # Errors
/// It does not give the length that the head says.
pub fn unpack(head: &Head, stored: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    match head.packing {
        Packing::Plain => out.extend_from_slice(stored),
        Packing::Lz4 => {
            // The head was checked: this is at most `LARGEST_BODY`.
            out.resize(head.raw as usize, 0);
            let length =
                lz4_flex::block::decompress_into(stored, out).map_err(|_| Error::Packing)?;
            out.truncate(length);
        }
    }
    if out.len() == head.raw as usize { Ok(()) } else { Err(Error::Packing) }
}

/// Checks and unpacks the frame that `bytes` begin with.
///
/// # Errors
/// It is not what was sent.
pub fn open(bytes: &[u8]) -> Result<(Head, Vec<u8>), Error> {
    let head = check(bytes)?;
    let mut body = Vec::new();
    unpack(&head, &bytes[HEAD_BYTES..length(&head)], &mut body)?;
    Ok((head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        let producer = Producer { host: 1, start: 2, pid: 3 };
        Subject { kind: Kind::Events, producer, lane: 4, from: 5, count: 6, events: 7, time: 8 }
    }

    #[track_caller]
    fn comes_back(body: &[u8], packing: Packing) {
        let mut bytes = b"before".to_vec();
        let sealed = seal(&subject(), body, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 6 + sealed);
        let (head, found) = open(&bytes[6..]).unwrap();
        assert_eq!((found.as_slice(), head.packing, head.count), (body, packing, 6));
        assert_eq!(length(&head), sealed);
    }

    #[test]
    fn bodies_come_back_packed_or_not() {
        comes_back(b"", Packing::Plain);
        comes_back(b"short", Packing::Plain);
        comes_back(&[7; 100_000], Packing::Lz4);
        let mut state = 88_172_645_463_325_252_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .take(5000)
        .collect();
        comes_back(&noise, Packing::Plain);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let mut bytes = Vec::new();
        seal(&subject(), &[9; 300], &mut bytes).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&wrong).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(open(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_length_that_does_not_hold_is_refused() {
        let mut bytes = Vec::new();
        seal(&subject(), &[9; 300], &mut bytes).unwrap();
        let (head, _) = open(&bytes).unwrap();
        let lie = Head { raw: 299, ..head };
        let stored = &bytes[HEAD_BYTES..];
        assert_eq!(unpack(&lie, stored, &mut Vec::new()), Err(Error::Packing));
        let large = vec![0; LARGEST_BODY as usize + 1];
        let refused = seal(&subject(), &large, &mut Vec::new());
        assert_eq!(refused, Err(Error::TooLarge { found: large.len() }));
    }
}
