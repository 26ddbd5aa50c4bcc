//! What comes: a frame is judged, kept, entered into the book, and shown to whoever waits for it.

use std::sync::{Arc, PoisonError};

use netra_event::SLOT_BYTES;
use netra_event::frame::{HEAD_BYTES, Head, Kind};

use super::Intake;
use super::inner::Inner;
use crate::batch::{Batch, Images, Payload, count_events};
use crate::frame::{self, Subject};
use crate::ledger::{Producing, Verdict};
use crate::spool::Refused;
use crate::told;

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

impl Intake {
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
            inner.pressed = true;
            self.news.notify_all();
            told::add(&self.told.counters.spool_full, 1);
            self.told.say(format_args!("{error}: nothing more is taken until there is room"));
        })?;
        inner.book.receive(&batch);
        inner.changed = true;
        inner.feel_pressure();
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
        told::add(&counters.subscribers_missed, self.board.show(head, bytes));
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
pub(super) fn put_in_image(images: &mut Images, batch: &Batch) -> bool {
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
