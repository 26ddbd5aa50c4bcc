//! The middle of a daemon: whatever comes goes through here into the spool, and every sink reads it
//! from there. Nobody waits for a sink; whoever offers more than there is room for is told so.
//!
//! One lock guards spool and book, because a frame is new or known only together with what is in the
//! spool. Files are read and synced outside of it.

mod keep;
mod restore;
mod waker;

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use netra_event::SLOT_BYTES;
use netra_event::frame::{HEAD_BYTES, Head, Kind, Producer};

use crate::batch::{Batch, Images, Payload, count_events};
use crate::clock::Clock;
use crate::frame::{self, Subject};
use crate::ledger::{Book, Checkpoint, Outlet, Producing, Verdict};
use crate::spool::{Limits, Reader, Refused, Spool, Storage};
use crate::told::{self, Told};
use crate::topic::Board;
use restore::{load, replay};

pub use waker::Waker;

/// The file of the checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is in the spool; durable once everything before this position is.
    Stored(u64),
    /// All of it was here; durable once everything before this position is.
    Known(u64),
}

impl Taken {
    /// When everything before this position is durable, the frame is.
    #[must_use]
    pub fn position(self) -> u64 {
        match self {
            Taken::Stored(position) | Taken::Known(position) => position,
        }
    }
}

/// Why a frame was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is none.
    #[error(transparent)]
    Frame(#[from] frame::Error),
    /// It says what only two daemons say to each other.
    #[error("a {} frame is not for keeping", .0.slug())]
    Control(Kind),
    /// The spool has no room, or can not be written.
    #[error(transparent)]
    Spool(#[from] Refused),
}

#[derive(Debug)]
struct Inner {
    spool: Spool,
    book: Book,
    outlets: Vec<Outlet>,
    wakers: Vec<Arc<Waker>>,
    /// Whether anything changed since the last checkpoint.
    changed: bool,
    /// Images that changed since then.
    dirty: BTreeSet<Producer>,
    /// Producers of which nothing more comes, and the position at which that was known.
    finished: VecDeque<(u64, Producer)>,
    own: Producer,
    images: Option<Images>,
    /// Counts changes of the images.
    version: u64,
    /// Nothing more comes in: sinks are to take what is here.
    draining: bool,
    stopping: bool,
}

/// Processes that have ended and are still known, so that what comes twice is noticed and their
/// certificates can be made.
const REMEMBERED: usize = 16_384;

impl Inner {
    fn state(&self) -> Checkpoint {
        Checkpoint {
            spool: self.spool.id(),
            position: self.spool.end(),
            book: self.book.clone(),
            outlets: self.outlets.clone(),
        }
    }

    /// Forgets the images of processes that every sink is done with, and the oldest of the
    /// processes themselves; says whose images may go.
    fn forget(&mut self, oldest_needed: u64) -> Vec<Producer> {
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
        let (spool, damage) = Spool::open(Arc::clone(&storage), setup.limits, clock.now())?;
        for damage in &damage {
            told::add(&told.counters.spool_damaged, 1);
            let (file, at) = (&damage.file, damage.at);
            told.say(format_args!("{file} is damaged at byte {at}: {}", damage.what));
        }
        let (mut checkpoint, images) = load(&*storage, &spool)?;
        replay(&spool, &mut checkpoint)?;
        let outlets = setup.outlets.iter().map(|name| {
            let kept = checkpoint.outlets.iter().find(|outlet| outlet.name == *name);
            kept.cloned().unwrap_or_else(|| Outlet {
                name: name.clone(),
                position: spool.begin(),
                ..Outlet::default()
            })
        });
        let mut inner = Inner {
            outlets: outlets.collect(),
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

    /// Takes a frame.
    ///
    /// # Errors
    /// It is none, or there is no room for it.
    pub fn offer(&self, bytes: &[u8]) -> Result<Taken, Error> {
        let head = frame::check(bytes)?;
        let bytes = &bytes[..frame::length(&head)];
        if head.kind.is_control() {
            return Err(Error::Control(head.kind));
        }
        let mut inner = self.lock();
        let verdict = inner.book.judge(&head);
        match verdict {
            Verdict::Known => {
                inner.book.repeated(&head);
                told::add(&self.told.counters.frames_repeated, 1);
                Ok(Taken::Known(inner.spool.end()))
            }
            Verdict::New => self.store(&mut inner, &head, bytes).map(Taken::Stored),
            Verdict::Part { skip, keep } => {
                let part = part_of(&head, bytes, skip, keep)?;
                let head = frame::check(&part)?;
                self.store(&mut inner, &head, &part)?;
                drop(inner);
                // What is left of it may have a part that is new, too.
                self.offer(bytes)
            }
        }
    }

    fn store(&self, inner: &mut Inner, head: &Head, bytes: &[u8]) -> Result<u64, Error> {
        // What the book must understand is opened before it is kept.
        let batch = match head.kind {
            Kind::Events => Batch::plain(&subject(head), Vec::new()),
            _ => Batch::open(bytes)?,
        };
        let end = inner.spool.append(bytes).inspect_err(|error| {
            told::add(&self.told.counters.spool_full, 1);
            self.told.say(format_args!("{error}: nothing more is taken until there is room"));
        })?;
        inner.book.receive(&batch);
        inner.changed = true;
        if let Some(images) = &mut inner.images
            && put_in_image(images, &batch)
        {
            inner.dirty.insert(head.producer);
            inner.version += 1;
        }
        if head.kind == Kind::Ledger
            && inner.book.producers.get(&head.producer).is_some_and(Producing::is_final)
        {
            inner.finished.push_back((end, head.producer));
        }
        let counters = &self.told.counters;
        told::add(&counters.frames_received, 1);
        told::add(&counters.bytes_received, bytes.len() as u64);
        if head.kind == Kind::Events {
            told::add(&counters.events_received, u64::from(head.events));
        }
        told::set(&counters.spool_bytes, inner.spool.bytes());
        self.board.show(head, bytes);
        for waker in &inner.wakers {
            waker.wake();
        }
        self.news.notify_all();
        Ok(end)
    }

    /// Seals an item of the daemon itself (a message, metrics) and takes it.
    ///
    /// # Errors
    /// It is too large, or there is no room.
    pub fn publish(&self, kind: Kind, lane: u32, body: &[u8]) -> Result<Taken, Error> {
        // Nobody else takes the same index meanwhile.
        let _mine = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, from) = {
            let inner = self.lock();
            (inner.own, inner.book.next(&inner.own, kind, lane))
        };
        let mut bytes = Vec::new();
        frame::seal(&Subject::single(kind, own, lane, from, self.clock.now()), body, &mut bytes)?;
        self.offer(&bytes)
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

    /// A reader for a sink, from where it stands, with its mark and its number.
    #[must_use]
    pub fn outlet(&self, name: &str) -> Option<(usize, Reader, Outlet)> {
        let inner = self.lock();
        let number = inner.outlets.iter().position(|outlet| outlet.name == name)?;
        let outlet = inner.outlets.get(number)?.clone();
        Some((number, inner.spool.reader(outlet.position), outlet))
    }

    /// A descriptor that becomes readable when something new is in the spool.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn waker(&self) -> io::Result<Arc<Waker>> {
        use rustix::event::{EventfdFlags, eventfd};
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let waker = Arc::new(Waker { fd, wanted: AtomicBool::new(false) });
        self.lock().wakers.push(Arc::clone(&waker));
        Ok(waker)
    }

    /// Fills a reader with what is new; false if there is nothing.
    ///
    /// # Errors
    /// The spool can not be read.
    pub fn fill(&self, reader: &mut Reader) -> io::Result<bool> {
        let Some(piece) = reader.plan(&self.lock().spool) else { return Ok(false) };
        reader.fill(&piece)?;
        Ok(true)
    }

    /// Waits for something new behind a position; false if nothing came in time or the daemon ends.
    #[must_use]
    pub fn wait_news(&self, position: u64, patience: Duration) -> bool {
        let inner = self.lock();
        let waiting =
            |inner: &mut Inner| inner.spool.end() <= position && !inner.draining && !inner.stopping;
        let waited = self.news.wait_timeout_while(inner, patience, waiting);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.spool.end() > position
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

    /// What events refer to, if it is newer than `version`.
    #[must_use]
    pub fn images(&self, version: u64) -> Option<(u64, Images)> {
        let inner = self.lock();
        let images = inner.images.as_ref().filter(|_| inner.version != version)?;
        Some((inner.version, images.clone()))
    }

    /// A sink has come further: everything before `outlet.position` is durable there.
    pub fn delivered(&self, number: usize, outlet: Outlet) {
        let mut inner = self.lock();
        let position = outlet.position;
        if let Some(place) = inner.outlets.get_mut(number) {
            let before: u64 = place.tally.producers.values().map(|got| got.events()).sum();
            let after: u64 = outlet.tally.producers.values().map(|got| got.events()).sum();
            told::add(&self.told.counters.events_delivered, after.saturating_sub(before));
            *place = outlet;
            inner.changed = true;
            self.news.notify_all();
        }
        let lag = inner.spool.end().saturating_sub(position);
        if let Some(outlet) = inner.outlets.get(number) {
            self.told.set(&format!("netra_stream_lag_bytes{{sink=\"{}\"}}", outlet.name), lag);
        }
    }

    /// The state as it is now, whether durable or not.
    #[must_use]
    pub fn state(&self) -> Checkpoint {
        self.lock().state()
    }

    /// Whether every sink has everything.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let inner = self.lock();
        let end = inner.spool.end();
        inner.outlets.iter().all(|outlet| outlet.position >= end)
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

    /// Images as they were kept may be older than the frames that are still here.
    fn rebuild_images(&self) -> io::Result<()> {
        let mut inner = self.lock();
        let Some(mut images) = inner.images.take() else { return Ok(()) };
        let mut reader = inner.spool.reader(0);
        while let Some(piece) = reader.plan(&inner.spool) {
            reader.fill(&piece)?;
            while let Some(bytes) = reader.next() {
                if let Ok(Some(head)) = frame::peek(bytes)
                    && matches!(head.kind, Kind::Tables | Kind::Snapshot | Kind::Life)
                    && let Ok(batch) = Batch::open(bytes)
                {
                    put_in_image(&mut images, &batch);
                }
            }
        }
        inner.images = Some(images);
        Ok(())
    }
}

fn subject(head: &Head) -> Subject {
    Subject {
        kind: head.kind,
        producer: head.producer,
        lane: head.lane,
        from: head.from,
        count: head.count,
        events: head.events,
        time: head.time,
    }
}

/// Whether the batch is a part of an image.
fn put_in_image(images: &mut Images, batch: &Batch) -> bool {
    let Ok(Some(Payload::Tables(tables) | Payload::Snapshot(tables))) = batch.payload() else {
        return false;
    };
    let image = images.entry(batch.head.producer).or_default();
    Arc::make_mut(image).take(tables.parts());
    true
}

/// The items `skip .. skip + keep` of a frame as a frame of their own. Only events can be taken apart;
/// other kinds have one item.
fn part_of(head: &Head, bytes: &[u8], skip: u32, keep: u32) -> Result<Vec<u8>, frame::Error> {
    let mut body = Vec::new();
    frame::unpack(head, &bytes[HEAD_BYTES..frame::length(head)], &mut body)?;
    let slot = |slots: u32| slots as usize * SLOT_BYTES;
    let part = body.get(slot(skip)..slot(skip.saturating_add(keep))).unwrap_or_default();
    let subject = Subject {
        from: head.from + u64::from(skip),
        count: keep,
        events: count_events(part.as_chunks().0, |_| {}),
        ..subject(head)
    };
    let mut out = Vec::new();
    frame::seal(&subject, part, &mut out)?;
    Ok(out)
}
