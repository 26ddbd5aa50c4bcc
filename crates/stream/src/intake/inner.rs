//! What the one lock guards: the spool, the book of what came, and how far every sink is.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use netra_event::frame::Producer;

use super::Waker;
use crate::batch::Images;
use crate::ledger::{Book, Checkpoint, Outlet};
use crate::spool::Spool;

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) spool: Spool,
    pub(super) book: Book,
    pub(super) outlets: Vec<Outlet>,
    /// Sinks that may go without.
    pub(super) optional: BTreeSet<String>,
    pub(super) wakers: Vec<Arc<Waker>>,
    /// Whether anything changed since the last checkpoint.
    pub(super) changed: bool,
    /// Whether the spool is nearly full, or was refused something.
    pub(super) pressed: bool,
    /// Images that changed since then.
    pub(super) dirty: BTreeSet<Producer>,
    /// Producers of which nothing more comes, and the position at which that was known.
    pub(super) finished: VecDeque<(u64, Producer)>,
    pub(super) own: Producer,
    pub(super) images: Option<Images>,
    /// Counts changes of the images.
    pub(super) version: u64,
    /// Nothing more comes in: sinks are to take what is here.
    pub(super) draining: bool,
    pub(super) stopping: bool,
}

/// Processes that have ended and are still known, so that what comes twice is noticed and their
/// certificates can be made.
const REMEMBERED: usize = 16_384;

impl Inner {
    pub(super) fn state(&self) -> Checkpoint {
        Checkpoint {
            spool: self.spool.id(),
            position: self.spool.end(),
            book: self.book.clone(),
            outlets: self.outlets.clone(),
        }
    }

    /// Forgets the images of processes that every sink is done with, and the oldest of the
    /// processes themselves; says whose images may go.
    pub(super) fn forget(&mut self, oldest_needed: u64) -> Vec<Producer> {
        let done = |(position, _): &&(u64, Producer)| *position <= oldest_needed;
        let ended: Vec<Producer> =
            self.finished.iter().take_while(done).map(|(_, producer)| *producer).collect();
        let gone = |producer: &Producer| {
            self.images.as_mut().is_some_and(|images| images.remove(producer).is_some())
        };
        let ended: Vec<Producer> = ended.into_iter().filter(gone).collect();
        while self.finished.len() > REMEMBERED
            && let Some((position, producer)) = self.finished.pop_front()
        {
            if position > oldest_needed {
                self.finished.push_front((position, producer));
                break;
            }
            self.book.producers.remove(&producer);
            for outlet in &mut self.outlets {
                outlet.tally.producers.remove(&producer);
            }
        }
        ended
    }
}
