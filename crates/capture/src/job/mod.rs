//! One log for a job of MPI, made by its ranks when they end MPI.
//!
//! Rank 0 makes the file; each rank writes its own part into it: its records, its names and its packed
//! segment, each a stream or block of its own, as Darshan's logs have them. What ranks tell each other goes up
//! and down a tree (`tree`), so there are as many steps as the number of ranks has bits:
//!
//! 1. Everybody is here (`post`). Up: when each began and ended, how much it traced. Down: the job's time,
//!    and where the file is (`plan`).
//! 2. Up: the records that all ranks so far have. Down: those that all have (`share`).
//! 3. Up: these records, joined two by two, and how long the parts are. Down: where each part goes.
//! 4. Everybody writes (`write`). Up: who has written; a rank that does not see the file, because it is on
//!    another node, hands its bytes to the rank above it. Down: the log is whole and has its name.
//!
//! No rank keeps more than its own part and two sets of the records that all have. Nothing is sent before
//! everybody has come, and every wait ends: then each rank does what it does without MPI, and writes its own
//! log when it ends. Traces above 64 MiB together (`NETRA_LOG_TRACES`) stay in the segments, for `netra` to merge.
//!
//! What is done after `MPI_Finalize` still counts: if it moves data of files, the segment stays beside the log.

mod area;
mod member;
mod plan;
mod post;
mod share;
mod tree;
mod write;

use core::sync::atomic::Ordering;

use netra_event::Module;
use netra_event::segment::View;
use netra_event::segment::shard::{direction, mpiio, posix, stdio};

use crate::arena::{ARENA, note};
use crate::memory::{self, Private};
use crate::mpi::Mpi;
use crate::tls;
use member::Member;
use post::Post;
use tree::Tree;

/// States of [`Private::joined`]: tried; in the job's log; in it without its events.
const TRIED: u32 = 1;
const WHOLE: u32 = 2;
const COUNTED: u32 = 3;

/// MPI is about to end in this process.
pub fn join(mpi: Mpi) {
    let slot = tls::slot();
    let Some(private) = memory::private() else { return };
    if slot.borrowed.get() != 0 || private.joined.swap(TRIED, Ordering::AcqRel) != 0 {
        return;
    }
    let Some(tree) = place(mpi) else { return };
    private.moved.store(moved(), Ordering::Relaxed);
    // What MPI calls on our behalf leaves no trace.
    slot.borrowed.set(1);
    let joined = Post::open(mpi).and_then(|post| Member::new(post, tree).join());
    slot.borrowed.set(0);
    match joined {
        Some(traced) => {
            private.joined.store(if traced { WHOLE } else { COUNTED }, Ordering::Release);
        }
        None => note(b"the ranks made no log together: each writes its own"),
    }
}

/// What is to become of a process that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing of it is in a job's log: it writes its own.
    Alone,
    /// Everything is.
    Told,
    /// Not everything: the segment stays.
    More,
}

/// What is to become of this process.
#[must_use]
pub fn ending(private: &Private) -> Ending {
    match private.joined.load(Ordering::Acquire) {
        WHOLE if moved() == private.moved.load(Ordering::Relaxed) => Ending::Told,
        WHOLE | COUNTED => Ending::More,
        _ => Ending::Alone,
    }
}

/// This rank's place; none in a job of one.
fn place(mpi: Mpi) -> Option<Tree> {
    let (mut rank, world) = (-1, mpi.abi().world());
    // SAFETY: MPI has not ended, and the handle is the library's own.
    let size = unsafe {
        mpi.comm_rank(world, &raw mut rank);
        mpi.size(world)
    };
    let rank = u32::try_from(rank).ok()?;
    (size > 1 && rank < size).then_some(Tree { rank, size })
}

/// Calls that read or wrote files, and their bytes: a number that changes with every one. What has no path
/// does not count: who says goodbye on a standard stream has told nothing about files, and MPI ends itself
/// through sockets and event counters.
fn moved() -> u64 {
    let Some(view) = ARENA.whole().and_then(|bytes| View::new(bytes).ok()) else { return 0 };
    let mut sum = 0_u64;
    for record in view.records() {
        let words = match record.module {
            code if code == u32::from(Module::Posix.code()) => both(posix::READ, posix::WRITE),
            code if code == u32::from(Module::Mpiio.code()) => both(mpiio::READ, mpiio::WRITE),
            code if code == u32::from(Module::Stdio.code()) => STREAM,
            _ => continue,
        };
        if view.file(record.file).is_some_and(|file| file.name.first() == Some(&b'/')) {
            sum = words.iter().fold(sum, |sum, &word| sum.wrapping_add(record.word(word)));
        }
    }
    sum
}

const STREAM: [usize; 4] = [
    stdio::READ + stdio::CALLS,
    stdio::READ + stdio::BYTES,
    stdio::WRITE + stdio::CALLS,
    stdio::WRITE + stdio::BYTES,
];

const fn both(read: usize, write: usize) -> [usize; 4] {
    [
        read.wrapping_add(direction::CALLS),
        read.wrapping_add(direction::BYTES),
        write.wrapping_add(direction::CALLS),
        write.wrapping_add(direction::BYTES),
    ]
}
