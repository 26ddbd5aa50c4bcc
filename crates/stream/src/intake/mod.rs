//! The middle of a daemon: whatever comes goes through here into the spool, and every sink reads it
//! from there. Nobody waits for a sink; whoever offers more than there is room for is told so.
//!
//! One lock guards spool and book, because a frame is new or known only together with what is in the
//! spool. Files are read and synced outside of it.

mod behind;
mod inner;
mod keep;
mod offer;
mod outlet;
mod restore;
mod waker;

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use netra_event::frame::{Kind, Producer};

use crate::clock::Clock;
use crate::ledger::{Checkpoint, Outlet, Producing, Rule};
use crate::spool::{Limits, Spool, Storage};
use crate::told::{self, Told};
use crate::topic::Board;
use inner::Inner;
use restore::{load, missed, replay};

pub use offer::{Error, Taken};
pub use waker::Waker;

/// The file of the checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// The middle of a daemon.
#[derive(Debug)]
pub struct Intake {
    storage: Arc<dyn Storage>,
    inner: Mutex<Inner>,
    /// Something is in the spool that was not.
    news: Condvar,
    /// More is durable than before.
    durable: Condvar,
    /// Held while an item of the daemon itself gets its index.
    publishing: Mutex<()>,
    /// What was found not to add up, and was told.
    breaches: Mutex<BTreeSet<(Producer, Option<String>, Rule)>>,
    /// What it tells about itself.
    pub told: Arc<Told>,
    /// Its clock.
    pub clock: Arc<Clock>,
    /// Where subscribers see what is taken.
    pub board: Arc<Board>,
}

/// How a daemon's middle is set up.
#[derive(Debug)]
pub struct Setup {
    /// How large the spool may become.
    pub limits: Limits,
    /// The daemon itself, as a producer.
    pub own: Producer,
    /// Whether a sink here wants to know what events refer to.
    pub images: bool,
    /// The sinks, by name; others that a checkpoint knows are given up.
    pub outlets: Vec<String>,
    /// Those among them that go without what does not fit into the spool, instead of holding it up.
    pub optional: BTreeSet<String>,
}

impl Intake {
    /// Opens the spool, and makes book and tallies from the checkpoint and the frames behind it.
    ///
    /// # Errors
    /// The folder can not be read or written, or its checkpoint is damaged.
    pub fn open(
        storage: Arc<dyn Storage>,
        setup: Setup,
        told: Arc<Told>,
        clock: Arc<Clock>,
    ) -> io::Result<Intake> {
        let (mut spool, damage) = Spool::open(Arc::clone(&storage), setup.limits, clock.now())?;
        for damage in &damage {
            told::add(&told.counters.spool_damaged, 1);
            let (file, at) = (&damage.file, damage.at);
            told.say(format_args!("{file} is damaged at byte {at}: {}", damage.what));
        }
        let (mut checkpoint, images) = load(&*storage, &spool)?;
        // A daemon that ended on a full disk may have left what nobody needs. It is no harm if it stays.
        spool.trim(checkpoint.oldest_needed()).ok();
        replay(&spool, &mut checkpoint)?;
        let mut outlets = Vec::new();
        for name in setup.outlets {
            let kept = checkpoint.outlets.iter().find(|outlet| outlet.name == name).cloned();
            outlets.push(match kept {
                Some(outlet) => outlet,
                None => {
                    let tally = missed(&spool, &checkpoint.book)?;
                    Outlet { name, position: spool.begin(), mark: Vec::new(), tally }
                }
            });
        }
        let mut inner = Inner {
            outlets,
            optional: setup.optional,
            pressed: false,
            book: checkpoint.book,
            wakers: Vec::new(),
            changed: true,
            own: setup.own,
            images: setup.images.then_some(images),
            version: 1,
            draining: false,
            stopping: false,
            dirty: BTreeSet::new(),
            finished: VecDeque::new(),
            spool,
        };
        let finals = inner.book.producers.iter().filter(|(_, of)| of.is_final());
        inner.finished = finals.map(|(producer, _)| (inner.spool.end(), *producer)).collect();
        let intake = Intake {
            storage,
            inner: Mutex::new(inner),
            news: Condvar::new(),
            durable: Condvar::new(),
            publishing: Mutex::new(()),
            breaches: Mutex::default(),
            told,
            clock,
            board: Arc::default(),
        };
        intake.rebuild_images()?;
        Ok(intake)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A thread that panicked left what is on disk as it was; the rest goes on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a row goes on.
    #[must_use]
    pub fn next(&self, producer: &Producer, kind: Kind, lane: u32) -> u64 {
        self.lock().book.next(producer, kind, lane)
    }

    /// Slots and events of a lane that were taken.
    #[must_use]
    pub fn received(&self, producer: &Producer, lane: u32) -> (u64, u64) {
        let inner = self.lock();
        let row = inner.book.producers.get(producer);
        let row = row.and_then(|of| of.rows.get(&(Kind::Events as u8, lane)));
        row.map_or((0, 0), |row| (row.items, row.events))
    }

    /// Whether everything of a process was taken before.
    #[must_use]
    pub fn is_final(&self, producer: &Producer) -> bool {
        self.lock().book.producers.get(producer).is_some_and(|of| of.is_final())
    }

    /// Processes of this host that run, as far as is known.
    #[must_use]
    pub fn running(&self) -> Vec<u32> {
        let inner = self.lock();
        let here = inner.book.producers.iter().filter(|(who, _)| who.host == inner.own.host);
        let runs = |of: &Producing| of.process.as_ref().is_some_and(|one| !one.phase.is_over());
        here.filter(|(_, of)| runs(of)).map(|(who, _)| who.pid).collect()
    }

    /// Bytes that the spool still takes.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.lock().spool.room()
    }

    /// Everything before this position is durable.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.lock().spool.committed()
    }

    /// Waits until everything before a position is durable; false if that did not come in time.
    #[must_use]
    pub fn wait_durable(&self, position: u64, patience: Duration) -> bool {
        let inner = self.lock();
        let waiting = |inner: &mut Inner| inner.spool.committed() < position && !inner.stopping;
        let waited = self.durable.wait_timeout_while(inner, patience, waiting);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.spool.committed() >= position
    }

    /// The spool's id.
    #[must_use]
    pub fn spool_id(&self) -> u64 {
        self.lock().spool.id()
    }

    /// The position behind the newest frame.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.lock().spool.end()
    }

    /// The state as it is now, whether durable or not.
    #[must_use]
    pub fn state(&self) -> Checkpoint {
        self.lock().state()
    }

    /// Nothing more comes in: sinks that like to wait for more do not.
    pub fn drain(&self) {
        self.lock().draining = true;
        self.news.notify_all();
    }

    /// Whether sinks are to take what is here.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.lock().draining
    }

    /// The daemon ends: whoever waits is let go.
    pub fn stop(&self) {
        let mut inner = self.lock();
        inner.stopping = true;
        for waker in &inner.wakers {
            waker.wake();
        }
        self.news.notify_all();
        self.durable.notify_all();
    }

    /// Whether the daemon ends.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }
}
