//! Who the processes of a job are: ranks, by the word of MPI or of the launcher, or processes that somebody
//! started one way or another.
//!
//! Ranks run the same program on equal parts of the work and wait for each other, so that they can be compared. Nothing
//! says that of other processes: the shell, what it starts, and the helpers of a library have different work, and one
//! that does most of it is no straggler. Every rule and every page asks here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use netra_event::Rank;

/// Who the processes of a job are, by the numbers that they have in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// How many are ranks: those with the numbers below this one; 0 where nobody said that there are any.
    pub ranks: u64,
    /// What people call the others, such as `python3 (process 4711)`.
    pub others: BTreeMap<u32, String>,
}

impl Who {
    /// Processes that are all ranks.
    #[must_use]
    pub fn ranks(number: u64) -> Who {
        Who { ranks: number, ..Who::default() }
    }

    /// What people call a process that is no rank: its program and its number on its node.
    #[must_use]
    pub fn name(command: &str, pid: u32) -> String {
        match program(command) {
            "" => format!("process {pid}"),
            program => format!("{program} (process {pid})"),
        }
    }

    /// Whether a process is a rank.
    #[must_use]
    pub fn is_rank(&self, number: Rank) -> bool {
        u64::try_from(number.0).is_ok_and(|number| number < self.ranks)
    }

    /// The rank's number, for what speaks of ranks only.
    #[must_use]
    pub fn rank(&self, number: Rank) -> Option<i64> {
        self.is_rank(number).then_some(number.0)
    }

    /// What people call it, if it is no rank.
    #[must_use]
    pub fn other(&self, number: Rank) -> Option<String> {
        (!self.is_rank(number)).then(|| self.called(number))
    }

    /// A process in a sentence: `rank 3`, `python3 (process 4711)`.
    #[must_use]
    pub fn called(&self, number: Rank) -> String {
        let known = || u32::try_from(number.0).ok().and_then(|number| self.others.get(&number));
        match known() {
            _ if self.is_rank(number) => format!("rank {number}"),
            Some(name) => name.clone(),
            None => format!("process {number}"),
        }
    }

    /// What processes of a job of so many are called: ranks, where all of them are.
    #[must_use]
    pub fn noun(&self, processes: u64) -> &'static str {
        if self.ranks > 0 && processes <= self.ranks { "ranks" } else { "processes" }
    }

    /// The same for one of them.
    #[must_use]
    pub fn one(&self, processes: u64) -> &'static str {
        if self.noun(processes) == "ranks" { "rank" } else { "process" }
    }

    /// How many there are, in words: `4 ranks`, `50 processes`, `4 ranks and 2 other processes`.
    #[must_use]
    pub fn how_many(&self, processes: u64) -> Cow<'static, str> {
        let others = processes.saturating_sub(self.ranks);
        let more = if others == 1 { "process" } else { "processes" };
        match (self.ranks, others) {
            (0 | 1, 0) | (0, 1) => "1 process".into(),
            (0, _) => format!("{processes} processes").into(),
            (ranks, 0) => format!("{ranks} ranks").into(),
            (1, _) => format!("1 rank and {others} other {more}").into(),
            (ranks, _) => format!("{ranks} ranks and {others} other {more}").into(),
        }
    }
}

/// The program of a command line: its first word without folders.
#[must_use]
pub fn program(command: &str) -> &str {
    let first = command.split_whitespace().next().unwrap_or("");
    first.rsplit('/').next().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::Who;
    use netra_event::Rank;

    fn mixed() -> Who {
        let name = Who::name("/usr/bin/python3 worker.py", 4711);
        Who { ranks: 2, others: [(2, name)].into() }
    }

    #[test]
    fn ranks_have_the_lowest_numbers_and_others_have_names() {
        let who = mixed();
        let called = |number| who.called(Rank(number));
        assert_eq!((called(0), called(1)), ("rank 0".into(), "rank 1".into()));
        assert_eq!(called(2), "python3 (process 4711)");
        assert_eq!(called(3), "process 3");
        assert_eq!(
            (who.rank(Rank(1)), who.rank(Rank(2)), who.rank(Rank::SHARED)),
            (Some(1), None, None)
        );
        assert_eq!(Who::name("", 7), "process 7");
    }

    #[test]
    fn processes_are_ranks_where_somebody_said_so() {
        let says =
            |who: &Who, processes| (who.noun(processes), who.how_many(processes).into_owned());
        assert_eq!(says(&Who::default(), 50), ("processes", "50 processes".into()));
        assert_eq!(says(&Who::default(), 1), ("processes", "1 process".into()));
        assert_eq!(says(&Who::ranks(1), 1), ("ranks", "1 process".into()));
        assert_eq!(says(&Who::ranks(4), 4), ("ranks", "4 ranks".into()));
        assert_eq!(says(&mixed(), 3), ("processes", "2 ranks and 1 other process".into()));
    }
}
