//! A batch: one frame, opened. What sinks get to see, and what sources make.
//!
//! [`Batch::payload`] says what is in it; what a process's events refer to (names, files, call sites)
//! comes in batches of its own and is kept in an [`Image`].

mod account;
mod events;
mod image;
mod message;
mod process;
mod table;

use netra_event::frame::{HEAD_BYTES, Head, Kind};

use crate::frame::{self, Subject};
use crate::pack::Malformed;

pub use account::{Account, LaneAccount};
pub use events::{Events, count_events};
pub use image::{Image, Images, LARGEST_IMAGE};
pub use message::{Form, Message};
pub use process::{Phase, Process};
pub use table::{HEADER, Part, Tables, pack_parts};

/// A frame, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The head: kind, producer, range.
    pub head: Head,
    body: Vec<u8>,
}

/// What a batch holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload<'a> {
    /// Calls of one lane.
    Events(Events<'a>),
    /// More of a segment's growing regions.
    Tables(Tables<'a>),
    /// A segment's changing regions as they are now.
    Snapshot(Tables<'a>),
    /// A process began or ended.
    Life(Process),
    /// A process's account.
    Ledger(Account),
    /// System metrics; the samplers give the bytes their meaning.
    Metrics(&'a [u8]),
    /// A published message.
    Message(Message<'a>),
}

impl Batch {
    /// Opens a frame.
    ///
    /// # Errors
    /// It is not what was sent.
    pub fn open(bytes: &[u8]) -> Result<Batch, frame::Error> {
        let (head, body) = frame::open(bytes)?;
        Ok(Batch { head, body })
    }

    /// Opens a frame that was checked, into the memory of the batch before it.
    ///
    /// # Errors
    /// It can not be unpacked.
    pub fn reopen(&mut self, head: Head, frame: &[u8]) -> Result<(), frame::Error> {
        let stored = frame.get(HEAD_BYTES..frame::length(&head)).unwrap_or_default();
        self.head = head;
        frame::unpack(&head, stored, &mut self.body)
    }

    /// A batch that was not sealed yet; its head says what sealing would find for a plain body.
    #[must_use]
    pub fn plain(subject: &Subject, body: Vec<u8>) -> Batch {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let head = Head {
            kind: subject.kind,
            packing: netra_event::frame::Packing::Plain,
            stored: length,
            raw: length,
            producer: subject.producer,
            lane: subject.lane,
            from: subject.from,
            count: subject.count,
            events: subject.events,
            time: subject.time,
            body_sum: crc32fast::hash(&body),
        };
        Batch { head, body }
    }

    /// The body as it was sent.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// What it holds; none for what daemons say to each other.
    ///
    /// # Errors
    /// The body is not what its kind says.
    pub fn payload(&self) -> Result<Option<Payload<'_>>, Malformed> {
        let body = &self.body;
        Ok(Some(match self.head.kind {
            Kind::Events => Payload::Events(Events::new(&self.head, body)?),
            Kind::Tables => Payload::Tables(Tables::new(body)?),
            Kind::Snapshot => Payload::Snapshot(Tables::new(body)?),
            Kind::Life => Payload::Life(Process::unpack(body)?),
            Kind::Ledger => Payload::Ledger(Account::unpack(body)?),
            Kind::Metrics => Payload::Metrics(body),
            Kind::Message => Payload::Message(Message::unpack(body)?),
            _ => return Ok(None),
        }))
    }
}
