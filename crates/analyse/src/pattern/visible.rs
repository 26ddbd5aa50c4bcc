//! Whether one rank's write could be seen by another, on file systems that promise less than POSIX.
//!
//! Under commit semantics the writer must flush (or close) before the other uses the bytes; under session
//! semantics (close-to-open, as NFS and many burst buffers have it) it must close, and the other open after that.

use std::collections::BTreeMap;

use crate::{Act, Commit};

/// What ranks did to one file, by rank and in order of time.
#[derive(Debug, Default)]
pub(super) struct Visible {
    ranks: BTreeMap<u32, Acts>,
}

#[derive(Debug, Default)]
struct Acts {
    opens: Vec<f64>,
    flushes: Vec<f64>,
    closes: Vec<f64>,
}

impl Visible {
    /// Of one file; nothing where opens and closes were not traced.
    pub(super) fn of(commits: &[Commit]) -> Option<Visible> {
        let mut visible = Visible::default();
        for commit in commits {
            let acts = visible.ranks.entry(commit.rank).or_default();
            match commit.act {
                Act::Open => acts.opens.push(commit.time),
                Act::Sync => acts.flushes.push(commit.time),
                Act::Close => {
                    acts.flushes.push(commit.time);
                    acts.closes.push(commit.time);
                }
            }
        }
        for acts in visible.ranks.values_mut() {
            [&mut acts.opens, &mut acts.flushes, &mut acts.closes]
                .into_iter()
                .for_each(|times| times.sort_by(f64::total_cmp));
        }
        (!visible.ranks.is_empty()).then_some(visible)
    }

    /// Whether the writer flushed between two times.
    pub(super) fn is_committed(&self, writer: u32, from: f64, to: f64) -> bool {
        let acts = self.ranks.get(&writer);
        acts.and_then(|acts| first(&acts.flushes, from)).is_some_and(|flush| flush <= to)
    }

    /// Whether the writer closed and the other opened after that, between two times.
    pub(super) fn is_reopened(&self, writer: u32, other: u32, from: f64, to: f64) -> bool {
        let close = self.ranks.get(&writer).and_then(|acts| first(&acts.closes, from));
        let open = close.and_then(|close| first(&self.ranks.get(&other)?.opens, close));
        open.is_some_and(|open| open <= to)
    }
}

/// The first of ordered times that is not before another.
fn first(times: &[f64], from: f64) -> Option<f64> {
    times.get(times.partition_point(|time| *time < from)).copied()
}

#[cfg(test)]
mod tests {
    use super::Visible;
    use crate::{Act, Commit};
    use netra_event::RecordId;
    use proptest::prelude::*;

    fn commit((rank, act, time): (u32, u8, u32)) -> Commit {
        let act = [Act::Open, Act::Sync, Act::Close][usize::from(act)];
        Commit { file: RecordId(1), rank, act, time: f64::from(time) }
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_every_pair(
            acts in prop::collection::vec((0u32..3, 0u8..3, 0u32..20), 1..20),
            from in 0u32..20,
            to in 0u32..20,
        ) {
            let commits: Vec<Commit> = acts.into_iter().map(commit).collect();
            let visible = Visible::of(&commits).unwrap();
            let (from, to) = (f64::from(from), f64::from(to));
            let within = |one: &&Commit| one.time >= from && one.time <= to;
            let flushed = commits.iter().filter(within).any(|one| one.rank == 0 && one.act != Act::Open);
            prop_assert_eq!(visible.is_committed(0, from, to), flushed);
            let closes = commits.iter().filter(within).filter(|one| one.rank == 0 && one.act == Act::Close);
            let reopened = closes.clone().any(|close| {
                commits.iter().filter(within).any(|open| {
                    open.rank == 1 && open.act == Act::Open && open.time >= close.time
                })
            });
            prop_assert_eq!(visible.is_reopened(0, 1, from, to), reopened);
        }
    }

    #[test]
    fn nothing_is_known_of_a_file_without_acts() {
        assert!(Visible::of(&[]).is_none());
    }
}
