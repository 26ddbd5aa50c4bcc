//! What is left out of the stream: modules, and files by their paths. What a filter leaves out stays in
//! the process's counters and in its log; in a batch its slots are blanked, so that the indices of
//! all others stay, and it is counted.

use netra_event::{CODE, Layer, SECOND, SLOT_BYTES};

/// A filter of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Layers whose calls are left out.
    pub layers: Vec<Layer>,
    /// Beginnings of paths that are left out.
    pub exclude: Vec<String>,
    /// Beginnings of paths that are not, whatever excludes them; with only these, all others are.
    pub include: Vec<String>,
}

impl Filter {
    /// Whether nothing is left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty() && !self.looks_at_paths()
    }

    /// Whether names of files matter.
    #[must_use]
    pub fn looks_at_paths(&self) -> bool {
        !self.exclude.is_empty() || !self.include.is_empty()
    }

    /// Whether calls on a file go into the stream.
    #[must_use]
    pub fn passes(&self, path: &[u8]) -> bool {
        let begins = |list: &[String]| list.iter().any(|start| path.starts_with(start.as_bytes()));
        if begins(&self.include) {
            return true;
        }
        !begins(&self.exclude) && (self.include.is_empty() || !self.exclude.is_empty())
    }

    /// Blanks the slots of calls that are left out.
    pub(super) fn apply(&self, slots: &mut [u8], passes: impl Fn(u32) -> bool) {
        let mut second = false;
        for slot in slots.as_chunks_mut::<SLOT_BYTES>().0 {
            let word = u16::from_le_bytes([slot[28], slot[29]]);
            if word & SECOND != 0 {
                if second {
                    *slot = [0; SLOT_BYTES];
                }
                continue;
            }
            let layer = Layer::of_code(word & CODE);
            let file = u32::from_le_bytes([slot[24], slot[25], slot[26], slot[27]]);
            second = layer.is_some_and(|layer| self.layers.contains(&layer))
                || (file != netra_event::NO_FILE && !passes(file));
            if second {
                *slot = [0; SLOT_BYTES];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::count_events;
    use netra_event::{Function, WIDE};

    fn slot(function: Function, file: u32, flags: u16) -> Vec<u8> {
        let word = u64::from(file) | u64::from(function.code() | flags) << 32;
        [1, 2, 3, word].iter().flat_map(|word: &u64| word.to_le_bytes()).collect()
    }

    #[test]
    fn modules_and_paths_are_blanked_with_their_second_slots() {
        let mut slots = slot(Function::Pwrite, 1, WIDE);
        slots.extend(slot(Function::Pwrite, 0, SECOND));
        slots.extend(slot(Function::Pread, 2, 0));
        slots.extend(slot(Function::Fwrite, 2, 0));
        let filter = Filter { layers: vec![Layer::Stdio], ..Filter::default() };
        filter.apply(&mut slots, |file| file != 1);
        assert_eq!(slots[..64], [0; 64]);
        let mut codes = Vec::new();
        assert_eq!(count_events(slots.as_chunks().0, |code| codes.push(code)), 1);
        assert_eq!(codes, [Function::Pread.code()]);
    }

    #[test]
    fn included_paths_win() {
        let list = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
        let filter = Filter {
            exclude: list(&["/home"]),
            include: list(&["/home/data"]),
            ..Filter::default()
        };
        assert!(filter.passes(b"/home/data/x") && !filter.passes(b"/home/x"));
        assert!(filter.passes(b"/scratch/x"));
        let only = Filter { include: list(&["/scratch"]), ..Filter::default() };
        assert!(only.passes(b"/scratch/x") && !only.passes(b"/home/x"));
        assert!(Filter::default().passes(b"/x") && Filter::default().is_empty());
    }
}
