//! Tags: what a subscriber wants.
//!
//! A tag is text that whoever publishes has chosen. Two are netra's own: `io`, the events of processes
//! with all that belongs to them, and `metrics`. A wish may end with `*`, and then means every published
//! tag that begins so.

use netra_event::frame::{Head, Kind};

use crate::batch::{Batch, Payload};

/// The tag of events.
pub const IO: &str = "io";
/// The tag of system metrics, sampled and published.
pub const METRICS: &str = "metrics";
/// Bytes of a tag.
pub const LONGEST: usize = 128;

/// What a subscriber wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Events, and what they refer to.
    Io,
    /// One tag, or all that begin with it.
    Tag {
        /// The tag.
        begin: Vec<u8>,
        /// Whether it may go on.
        open: bool,
    },
}

impl Wish {
    /// What these words wish for.
    ///
    /// # Errors
    /// A sentence that says what a tag is.
    pub fn parse(text: &str) -> Result<Wish, String> {
        let (begin, open) = match text.strip_suffix('*') {
            Some(begin) => (begin, true),
            None => (text, false),
        };
        check(begin, open)?;
        Ok(match text {
            IO => Wish::Io,
            _ => Wish::Tag { begin: begin.as_bytes().to_vec(), open },
        })
    }

    /// Whether a frame is wished for; `tag` is that of a message.
    #[must_use]
    pub fn takes(&self, kind: Kind, tag: Option<&[u8]>) -> bool {
        match (self, kind) {
            (
                Wish::Io,
                Kind::Events | Kind::Tables | Kind::Snapshot | Kind::Life | Kind::Ledger,
            ) => true,
            (Wish::Tag { .. }, Kind::Metrics) => self.names(METRICS.as_bytes()),
            (Wish::Tag { .. }, Kind::Message) => tag.is_some_and(|tag| self.names(tag)),
            _ => false,
        }
    }

    fn names(&self, tag: &[u8]) -> bool {
        match self {
            Wish::Io => false,
            Wish::Tag { begin, open: true } => tag.starts_with(begin),
            Wish::Tag { begin, open: false } => tag == begin,
        }
    }
}

/// Whether something may be published under this tag.
///
/// # Errors
/// A sentence that says what a tag is.
pub fn publishable(tag: &str) -> Result<(), String> {
    if tag == IO {
        return Err("io is the tag of recorded events; choose another".to_owned());
    }
    check(tag, false)
}

fn check(tag: &str, open: bool) -> Result<(), String> {
    let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    let fits = tag.len() <= LONGEST && (open || !tag.is_empty());
    match fits && tag.chars().all(right) {
        true => Ok(()),
        false => {
            Err(format!("{tag:?} is no tag: 1 to {LONGEST} letters, digits and . _ - / : make one"))
        }
    }
}

/// Whether a subscriber can not do without this frame: it could not read later ones, or would wait for a
/// process that has ended.
#[must_use]
pub const fn is_essential(kind: Kind) -> bool {
    matches!(kind, Kind::Tables | Kind::Snapshot | Kind::Life | Kind::Ledger)
}

/// What whoever does not get a frame has missed: events, messages, samples.
#[must_use]
pub(super) const fn worth(head: &Head) -> u64 {
    if is_essential(head.kind) { 0 } else { head.events as u64 }
}

/// The tag of a message, which only its body says.
#[must_use]
pub fn tag_of(head: &Head, frame: &[u8]) -> Option<Vec<u8>> {
    if head.kind != Kind::Message {
        return None;
    }
    match Batch::open(frame).ok()?.payload() {
        Ok(Some(Payload::Message(message))) => Some(message.tag.to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_take_what_they_name() {
        let wish = |text: &str| Wish::parse(text).unwrap();
        assert!(wish("io").takes(Kind::Events, None) && wish("io").takes(Kind::Tables, None));
        assert!(
            !wish("io").takes(Kind::Message, Some(b"io")) && !wish("io").takes(Kind::Metrics, None)
        );
        assert!(wish("a.b").takes(Kind::Message, Some(b"a.b")));
        assert!(!wish("a.b").takes(Kind::Message, Some(b"a.bc")));
        assert!(wish("a.*").takes(Kind::Message, Some(b"a.bc")));
        assert!(wish("*").takes(Kind::Message, Some(b"x")) && wish("*").takes(Kind::Metrics, None));
        assert!(
            wish("metrics").takes(Kind::Metrics, None) && !wish("met").takes(Kind::Metrics, None)
        );
        assert!(!wish("*").takes(Kind::Events, None));
    }

    #[test]
    fn what_is_no_tag_is_said() {
        for wrong in ["", "a b", "ä", &"x".repeat(129), "a*b"] {
            assert!(Wish::parse(wrong).unwrap_err().contains("is no tag"), "{wrong}");
        }
        assert!(publishable("io").unwrap_err().contains("choose another"));
        assert!(publishable("jobs*").is_err() && publishable("").is_err());
        assert_eq!(publishable("site/jobs.v2"), Ok(()));
    }
}
