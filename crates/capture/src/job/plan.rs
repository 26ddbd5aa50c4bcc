//! The first messages: what each rank brings goes up, what is made of it comes down.

use netra_darshan::encode::{self, Frame};
use netra_event::jenkins64;
use netra_event::segment::View;

use crate::log::place::Target;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::text::Text;

/// Begins every message of words, so that a stray one is not taken for ours.
pub(super) const MARK: u64 = u64::from_le_bytes(*b"netrajob");
/// Bytes of a slot of a lane.
const SLOT: u64 = netra_event::SLOT_BYTES as u64;

/// What a rank, or a tree of ranks, brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Present {
    /// Whether one of them cannot do its part.
    pub(super) failed: bool,
    /// When the first of them began to record and the last of them ended MPI.
    pub(super) start: u64,
    pub(super) end: u64,
    /// Bytes of their events.
    pub(super) traced: u64,
    /// The widest bins of their heat maps.
    pub(super) width: u64,
    /// Records of the rank that tells this, at most.
    pub(super) records: u64,
}

impl Present {
    pub(super) fn of(view: Option<&View<'_>>, end: u64, failed: bool) -> Present {
        let Some(view) = view else {
            return Present { failed: true, start: end, end, traced: 0, width: 0, records: 0 };
        };
        let slots = view.lanes().map(|lane| lane.head()).fold(0, u64::saturating_add);
        Present {
            failed,
            start: view.start().1,
            end,
            traced: slots.saturating_mul(SLOT),
            width: encode::widest(view),
            records: view.records().count() as u64,
        }
    }

    pub(super) fn words(&self) -> [u64; 7] {
        let Present { failed, start, end, traced, width, records } = *self;
        [MARK, u64::from(failed), start, end, traced, width, records]
    }

    /// None if this is no message of ours.
    pub(super) fn read(words: [u64; 7]) -> Option<Present> {
        let [mark, failed, start, end, traced, width, records] = words;
        let present = Present { failed: failed != 0, start, end, traced, width, records };
        (mark == MARK).then_some(present)
    }

    /// Takes in what other ranks bring.
    pub(super) fn add(&mut self, other: &Present) {
        self.failed |= other.failed;
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.traced = self.traced.saturating_add(other.traced);
        self.width = self.width.max(other.width);
    }
}

/// What the log is to be.
pub(super) struct Plan {
    /// The job's time.
    pub(super) frame: Frame,
    /// Whether the events stay in the segments.
    pub(super) untraced: bool,
    /// The file's first bytes: whoever opens a file of its name on another node sees whether it is this one.
    pub(super) token: u64,
    /// Where the file is while it is not complete.
    pub(super) path: Text<LONGEST_PATH>,
}

/// Words of a plan: the others, then the path.
pub(super) const WORDS: usize = 7 + LONGEST_PATH / 8;

impl Plan {
    /// What rank 0 decides; none if there can be no log.
    pub(super) fn decide(all: &Present, target: Option<&Target>) -> Option<Plan> {
        let target = target.filter(|_| !all.failed)?;
        let mut path = Text::new();
        path.push(target.partial());
        // Nobody else has this path, and never again at this moment.
        let token = jenkins64(target.partial(), all.end);
        target.file().set_rights(0o600).ok()?;
        target.file().write_at(&token.to_le_bytes(), 0).ok()?;
        let end = all.end.max(all.start);
        let width = encode::common_width(all.width, end.saturating_sub(all.start));
        let frame = Frame { start: all.start, end, width };
        Some(Plan { frame, untraced: all.traced > SETTINGS.log_traces(), token, path })
    }

    /// As a message; the one that says that there is no log, if there is no plan.
    pub(super) fn words(plan: Option<&Plan>) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let Some(Plan { frame: Frame { start, end, width }, untraced, token, path }) = plan else {
            return words;
        };
        let length = path.bytes().len() as u64;
        let head = [MARK, *start, *end, *width, u64::from(*untraced), *token, length];
        for (to, from) in words.iter_mut().zip(head) {
            *to = from;
        }
        for (word, bytes) in words.iter_mut().skip(head.len()).zip(path.bytes().chunks(8)) {
            let mut whole = [0; 8];
            for (to, from) in whole.iter_mut().zip(bytes) {
                *to = *from;
            }
            *word = u64::from_le_bytes(whole);
        }
        words
    }

    /// None if there is no log to be.
    pub(super) fn read(words: &[u64; WORDS]) -> Option<Plan> {
        let &[MARK, start, end, width, untraced, token, length, ref rest @ ..] = words else {
            return None;
        };
        let mut path = Text::new();
        for word in rest {
            path.push(&word.to_le_bytes());
        }
        path.truncate(usize::try_from(length).ok()?);
        Some(Plan { frame: Frame { start, end, width }, untraced: untraced != 0, token, path })
    }

    /// Where the file is once it is complete.
    pub(super) fn complete(&self) -> &[u8] {
        self.path.bytes().strip_suffix(crate::log::place::PARTIAL).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_arrives_as_it_was_sent() {
        let mut path = Text::new();
        path.push(b"/logs/root_app_id7-9_1-1-1_2.darshan_partial");
        let frame = Frame { start: 5, end: 9, width: 100 };
        let plan = Plan { frame, untraced: true, token: 77, path };
        let read = Plan::read(&Plan::words(Some(&plan))).unwrap();
        assert_eq!((read.frame, read.untraced, read.token), (frame, true, 77));
        assert_eq!(read.path.bytes(), plan.path.bytes());
        assert_eq!(read.complete(), b"/logs/root_app_id7-9_1-1-1_2.darshan");
        assert!(Plan::read(&Plan::words(None)).is_none());
    }

    #[test]
    fn ranks_that_come_together_are_summed() {
        let one = Present { failed: false, start: 5, end: 9, traced: 64, width: 100, records: 3 };
        let mut all = Present { start: 6, end: 8, width: 200, records: 1, ..one };
        assert_eq!(Present::read(one.words()), Some(one));
        all.add(&one);
        let want = Present { failed: false, start: 5, end: 9, traced: 128, width: 200, records: 1 };
        assert_eq!(all, want);
        assert_eq!(Present::read([1, 0, 0, 0, 0, 0, 0]), None);
    }
}
