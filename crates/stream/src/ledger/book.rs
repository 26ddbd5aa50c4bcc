//! A daemon's book: what it has received, of whom, and what it was told should come. It is a
//! function of the frames in the spool, so after a crash it is made again from the last checkpoint
//! and the frames behind it, and nothing is counted twice.

use std::collections::BTreeMap;

use netra_event::frame::{Head, Kind, Producer};

use super::range::Ranges;
use crate::batch::{Account, Batch, Payload, Process};
use crate::pack::{Malformed, Packer, Unpacker};

/// A row of one producer: a lane's events, or another kind's items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Which indices have come.
    pub ranges: Ranges,
    /// Items that came, each once.
    pub items: u64,
    /// Events among them.
    pub events: u64,
    /// Items that came again, and were dropped.
    pub repeated: u64,
}

/// One producer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Producing {
    /// Who it is, if it is a process and that was told.
    pub process: Option<Process>,
    /// Its newest account.
    pub account: Option<Account>,
    /// What came, by kind and lane.
    pub rows: BTreeMap<(u8, u32), Row>,
}

impl Producing {
    /// Whether it has ended, and everything that it produced was sent.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.is_final)
    }

    /// Events that came.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.lanes().map(|(_, row)| row.events).fold(0, u64::saturating_add)
    }

    /// The lanes of which events came.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, &Row)> {
        let events = Kind::Events as u8;
        self.rows.range((events, 0)..=(events, u32::MAX)).map(|(key, row)| (key.1, row))
    }
}

/// What to do with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is new.
    New,
    /// Only these items are new: how many to leave out before, and how many to keep.
    Part {
        /// Items to leave out.
        skip: u32,
        /// Items to keep.
        keep: u32,
    },
    /// All of it is here.
    Known,
}

/// The book.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Book {
    /// Producers.
    pub producers: BTreeMap<Producer, Producing>,
}

impl Book {
    /// Whether a frame, or a part of it, is new.
    #[must_use]
    pub fn judge(&self, head: &Head) -> Verdict {
        let to = head.from.saturating_add(u64::from(head.count));
        let row = self.row(head);
        let Some((from, until)) =
            row.map_or(Some((head.from, to)), |row| row.ranges.missing(head.from, to))
        else {
            return Verdict::Known;
        };
        if (from, until) == (head.from, to) {
            return Verdict::New;
        }
        // Both differences lie within `count`.
        Verdict::Part { skip: (from - head.from) as u32, keep: (until - from) as u32 }
    }

    fn row(&self, head: &Head) -> Option<&Row> {
        self.producers.get(&head.producer)?.rows.get(&(head.kind as u8, head.lane))
    }

    /// A frame that was judged to be new is in the spool.
    pub fn receive(&mut self, batch: &Batch) {
        let head = &batch.head;
        let producing = self.producers.entry(head.producer).or_default();
        let row = producing.rows.entry((head.kind as u8, head.lane)).or_default();
        row.ranges.add(head.from, head.from.saturating_add(u64::from(head.count)));
        row.items += u64::from(head.count);
        row.events += u64::from(head.events);
        match batch.payload() {
            Ok(Some(Payload::Life(process))) => producing.process = Some(process),
            Ok(Some(Payload::Ledger(account))) => producing.account = Some(account),
            _ => {}
        }
    }

    /// A frame that was here already came again.
    pub fn repeated(&mut self, head: &Head) {
        let producing = self.producers.entry(head.producer).or_default();
        let row = producing.rows.entry((head.kind as u8, head.lane)).or_default();
        row.repeated += u64::from(head.count);
    }

    /// Where a row goes on: the index behind the last that came.
    #[must_use]
    pub fn next(&self, producer: &Producer, kind: Kind, lane: u32) -> u64 {
        let row = self.producers.get(producer).and_then(|of| of.rows.get(&(kind as u8, lane)));
        row.map_or(0, |row| row.ranges.end())
    }

    pub(super) fn pack(&self, packer: &mut Packer) {
        packer.count(self.producers.len());
        for (producer, producing) in &self.producers {
            pack_producer(packer, producer);
            packer.text(&producing.process.as_ref().map(Process::pack).unwrap_or_default());
            packer.text(&producing.account.as_ref().map(Account::pack).unwrap_or_default());
            packer.count(producing.rows.len());
            for (&(kind, lane), row) in &producing.rows {
                packer.byte(kind).word(lane);
                packer.long(row.items).long(row.events).long(row.repeated);
                row.ranges.pack(packer);
            }
        }
    }

    pub(super) fn unpack(unpacker: &mut Unpacker<'_>) -> Result<Book, Malformed> {
        let mut book = Book::default();
        for _ in 0..unpacker.count(32)? {
            let producer = unpack_producer(unpacker)?;
            let (process, account) = (unpacker.text()?, unpacker.text()?);
            let mut producing = Producing::default();
            if !process.is_empty() {
                producing.process = Some(Process::unpack(process)?);
            }
            if !account.is_empty() {
                producing.account = Some(Account::unpack(account)?);
            }
            for _ in 0..unpacker.count(41)? {
                let key = (unpacker.byte()?, unpacker.word()?);
                let (items, events) = (unpacker.long()?, unpacker.long()?);
                let (repeated, ranges) = (unpacker.long()?, Ranges::unpack(unpacker)?);
                producing.rows.insert(key, Row { ranges, items, events, repeated });
            }
            book.producers.insert(producer, producing);
        }
        Ok(book)
    }
}

pub(super) fn pack_producer(packer: &mut Packer, producer: &Producer) {
    packer.long(producer.host).long(producer.start).word(producer.pid);
}

pub(super) fn unpack_producer(unpacker: &mut Unpacker<'_>) -> Result<Producer, Malformed> {
    Ok(Producer { host: unpacker.long()?, start: unpacker.long()?, pid: unpacker.word()? })
}
