//! What is left of a spool after a crash: whole frames stay, a torn end is cut, damage in between is
//! stepped over and named.

use std::collections::VecDeque;
use std::io;

use netra_event::frame::{HEAD_BYTES, MAGIC as FRAME_MAGIC};

use super::{HEADER_BYTES, MAGIC, Span, Storage, Stored, VERSION};
use crate::frame;

/// Bytes that are not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: String,
    /// The byte.
    pub at: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What is wrong.
    pub what: &'static str,
}

/// What was found.
pub(super) struct Found {
    pub(super) id: Option<u64>,
    pub(super) spans: VecDeque<Span>,
    pub(super) damage: Vec<Damage>,
}

/// Looks at every file, in the order of their positions.
pub(super) fn recover(storage: &dyn Storage) -> io::Result<Found> {
    let mut bases: Vec<u64> = storage.list()?.iter().filter_map(|name| base(name)).collect();
    bases.sort_unstable();
    let mut found = Found { id: None, spans: VecDeque::new(), damage: Vec::new() };
    let newest = bases.last().copied();
    for base in bases {
        let mut span = Span { base, bytes: 0 };
        let name = span.name();
        let file = storage.open(&name)?;
        match header(&*file, base)? {
            Some(id) => found.id = found.id.or(Some(id)),
            None => {
                // Created, but never begun: nothing was ever acknowledged from it.
                let bytes = file.length()?;
                if bytes > HEADER_BYTES {
                    let what = "not a spool file";
                    found.damage.push(Damage { file: name, at: 0, bytes, what });
                } else {
                    storage.remove(&name)?;
                }
                continue;
            }
        }
        let held = file.length()?;
        span.bytes = scan(&*file, &name, &mut found.damage)? - HEADER_BYTES;
        if Some(base) == newest && HEADER_BYTES + span.bytes < held {
            file.cut(HEADER_BYTES + span.bytes)?;
        }
        found.spans.push_back(span);
    }
    Ok(found)
}

/// The position in a file's name.
fn base(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".spool").filter(|digits| digits.len() == 20)?;
    digits.parse().ok()
}

/// The spool's id, if the file begins as it must.
fn header(file: &dyn Stored, base: u64) -> io::Result<Option<u64>> {
    let mut bytes = [0; HEADER_BYTES as usize];
    if file.read_at(0, &mut bytes)? < bytes.len() || !bytes.starts_with(&MAGIC) {
        return Ok(None);
    }
    let words = bytes.as_chunks::<8>().0;
    let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
    let good = word(1) == u64::from(VERSION) && word(3) == base;
    Ok(good.then(|| word(2)))
}

/// Walks over a file's frames; says where the last whole one ends.
fn scan(file: &dyn Stored, name: &str, damage: &mut Vec<Damage>) -> io::Result<u64> {
    let length = file.length()?;
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    let mut at = HEADER_BYTES as usize;
    let mut end = at;
    while at < bytes.len() {
        let step = step(&bytes[at..]);
        if step.whole {
            end = at + step.bytes;
        }
        at += step.bytes;
    }
    // Flaws before the last whole frame are damage; what is behind it is a torn end.
    at = HEADER_BYTES as usize;
    while at < end {
        let step = step(&bytes[at..end]);
        if !step.whole {
            let (file, at, bytes) = (name.to_owned(), at as u64, step.bytes as u64);
            damage.push(Damage { file, at, bytes, what: "a frame is not what was written" });
        }
        at += step.bytes;
    }
    Ok(end as u64)
}

/// What a file's next bytes are.
pub(super) struct Step {
    /// Whether they are a whole frame.
    pub(super) whole: bool,
    /// How many they are: the frame, or what is stepped over.
    pub(super) bytes: usize,
}

/// Looks at the bytes at a frame's place. Damage reaches to the next head that can be believed.
pub(super) fn step(bytes: &[u8]) -> Step {
    if let Ok(head) = frame::check(bytes) {
        return Step { whole: true, bytes: frame::length(&head) };
    }
    // A head that holds says where the next frame is, even if the body does not.
    if let Ok(Some(head)) = frame::peek(bytes)
        && frame::length(&head) <= bytes.len()
    {
        return Step { whole: false, bytes: frame::length(&head) };
    }
    let begins = |at: &usize| {
        bytes[*at..].starts_with(&FRAME_MAGIC) && matches!(frame::peek(&bytes[*at..]), Ok(Some(_)))
    };
    let next = (1..bytes.len().saturating_sub(HEAD_BYTES - 1)).find(begins);
    Step { whole: false, bytes: next.unwrap_or(bytes.len()) }
}
