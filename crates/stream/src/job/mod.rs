//! The processes that belong together, and the one log that they become.

mod draft;
mod number;
mod target;
mod write;

use std::collections::BTreeMap;

use netra_darshan::section::Attendance;
use netra_event::{Loss, Rank};

use crate::source::{Kind, Life, Piece, Roll};

pub use target::{Name, Target};
pub use write::Written;

/// All that processes of one job left.
#[derive(Debug, Clone)]
pub struct Job {
    pieces: Vec<Piece>,
    /// Earlier copies of parts of which a later one is among the pieces.
    earlier: Vec<Piece>,
    numbers: Vec<Option<Rank>>,
    nprocs: u32,
    attendance: Option<Attendance>,
}

impl Job {
    /// Puts pieces together that name the same job, jobs in the order of their start.
    #[must_use]
    pub fn group(pieces: Vec<Piece>) -> Vec<Job> {
        let mut jobs: BTreeMap<Vec<u8>, Vec<Piece>> = BTreeMap::new();
        for piece in pieces {
            jobs.entry(piece.job.clone()).or_default().push(piece);
        }
        let mut jobs: Vec<Job> = jobs.into_values().map(Job::new).collect();
        jobs.sort_by_key(|job| job.pieces.first().map(|piece| piece.start));
        jobs
    }

    /// Takes pieces as one job, whatever key they have. A process whose part is there twice, in the log that
    /// its ranks wrote together and in the segment or log that it left when it ended, counts once.
    #[must_use]
    pub fn new(pieces: Vec<Piece>) -> Job {
        let (mut pieces, earlier) = latest(pieces);
        pieces.sort_by(|a, b| (a.start, a.pid, &a.path).cmp(&(b.start, b.pid, &b.path)));
        let (numbers, nprocs) = number::number(&pieces);
        Job { pieces, earlier, numbers, nprocs, attendance: None }
    }

    /// The same job, and who there was in it by its rolls: the log will say so.
    #[must_use]
    pub fn called(mut self, roll: &Roll) -> Job {
        self.attendance = (!roll.is_empty()).then(|| roll.attendance(&self.pieces));
        self
    }

    /// Who there was in it, if a roll was called.
    #[must_use]
    pub fn attendance(&self) -> Option<&Attendance> {
        self.attendance.as_ref()
    }

    /// The pieces, in the order in which their processes began.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The pieces with the numbers that their processes have in the job's log; one that counted
    /// nothing has none.
    pub fn numbered(&self) -> impl Iterator<Item = (&Piece, Option<Rank>)> {
        self.pieces.iter().zip(self.numbers.iter().copied())
    }

    /// The text key.
    #[must_use]
    pub fn key(&self) -> String {
        let key = self.pieces.first().map(|piece| piece.job.as_slice()).unwrap_or_default();
        String::from_utf8_lossy(key).into_owned()
    }

    /// The process that says what the job is: the first rank, else the one with most I/O that is no launcher. A job of
    /// `mpirun` is about the program that it starts, as it is where nobody records launchers, and a job of a script about
    /// the program that it calls for the work.
    #[must_use]
    pub fn speaker(&self) -> Option<&Piece> {
        let ranks = self.pieces.iter().filter(|piece| piece.rank.is_some() && !piece.is_launcher());
        let rank = ranks.min_by_key(|piece| (!piece.from_mpi, piece.rank));
        let other = || {
            let others = self.pieces.iter().filter(|piece| !piece.is_launcher());
            // Of equals the first.
            others.rev().max_by_key(|piece| (piece.moved, piece.io))
        };
        rank.or_else(other).or(self.pieces.first())
    }

    /// How many ranks the job has, by the word of MPI or of the launcher; none if nobody said so.
    #[must_use]
    pub fn ranks(&self) -> Option<u32> {
        let sizes = self.pieces.iter().filter(|piece| piece.rank.is_some());
        let highest = |piece: &Piece| piece.rank.map_or(0, |rank| rank.saturating_add(1));
        sizes.map(|piece| piece.nprocs.unwrap_or(0).max(highest(piece))).max()
    }

    /// Whether the process of this number is a rank.
    #[must_use]
    pub fn is_rank(&self, number: Option<Rank>) -> bool {
        let ranks = self.ranks().map_or(0, i64::from);
        number.is_some_and(|number| (0..ranks).contains(&number.0))
    }

    /// Pieces of processes that still run.
    pub fn running(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.life == Life::Running)
    }

    /// Events written by all processes.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.events).fold(0, u64::saturating_add)
    }

    /// Events not written, by reason, over all processes.
    #[must_use]
    pub fn dropped(&self) -> BTreeMap<Loss, u64> {
        let mut sums = BTreeMap::new();
        for &(loss, count) in self.pieces.iter().flat_map(|piece| &piece.dropped) {
            let sum: &mut u64 = sums.entry(loss).or_default();
            *sum = sum.saturating_add(count);
        }
        sums
    }

    /// What the library complained about, each once, with how many processes did.
    #[must_use]
    pub fn notes(&self) -> BTreeMap<&str, usize> {
        let mut notes = BTreeMap::new();
        for note in self.pieces.iter().flat_map(|piece| &piece.notes) {
            *notes.entry(note.as_str()).or_default() += 1;
        }
        notes
    }
}

/// Of each process the copy with the most in it, and the other copies.
fn latest(mut pieces: Vec<Piece>) -> (Vec<Piece>, Vec<Piece>) {
    // Of two that know the same, the log is whole and a segment may be about to be removed.
    let more = |piece: &Piece| (piece.recorded, piece.events, piece.kind != Kind::Segment);
    pieces.sort_by(|a, b| a.identity().cmp(&b.identity()).then_with(|| more(b).cmp(&more(a))));
    let (mut latest, mut earlier) = (Vec::<Piece>::new(), Vec::new());
    for piece in pieces {
        match latest.last() {
            Some(known) if known.is_same_process(&piece) => earlier.push(piece),
            _ => latest.push(piece),
        }
    }
    (latest, earlier)
}
