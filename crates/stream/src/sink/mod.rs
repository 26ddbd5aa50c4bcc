//! Where batches end: a sink. One file each; a new sink is a new file and a row in the daemon's
//! configuration.
//!
//! The daemon hands a sink every batch of its spool in order, asks it now and then to make what it
//! has durable, and keeps the mark it then gets. After a crash the sink gets its last kept mark
//! back, undoes what it did behind it, and gets those batches again: each is delivered once.

mod lines;
mod null;
mod trace;

use std::io;
use std::time::Duration;

use crate::batch::{Batch, Images};

pub use lines::Lines;
pub use null::Null;
pub use trace::{Kept, Trace, kept};

/// What a sink knows its own durable state by: the length of a file, the version of a table. Kept in
/// the daemon's checkpoint; at most a few hundred bytes.
pub type Mark = Vec<u8>;

/// How often a sink makes durable what it has, while something comes, if it does not say otherwise.
pub const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// Where batches end.
pub trait Sink: Send {
    /// Says where the next batch lies: in which spool, and the position behind it. No other batch
    /// has the same, so that a sink that keeps its own account knows a batch again. Said before
    /// [`Sink::resume`] too, with the position from which batches come.
    fn at(&mut self, _spool: u64, _position: u64) {}

    /// How often it wants to commit while something comes.
    fn pace(&self) -> Duration {
        COMMIT_EVERY
    }

    /// Whether it wants to commit at once.
    fn is_full(&self) -> bool {
        false
    }

    /// Takes a batch. What it refers to (names, files, call sites of its process) is in `images`, if
    /// it arrived. Nothing need be durable yet. An error means that the batch comes again later.
    ///
    /// # Errors
    /// It could not be taken.
    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()>;

    /// Makes everything taken so far durable, and says how to find this state again.
    ///
    /// # Errors
    /// It could not be made durable; everything since the last mark comes again.
    fn commit(&mut self) -> io::Result<Mark>;

    /// Goes back to a state that was committed; an empty mark is the very first. Called once,
    /// before anything is taken.
    ///
    /// # Errors
    /// That state is gone.
    fn resume(&mut self, mark: &[u8]) -> io::Result<()>;
}
