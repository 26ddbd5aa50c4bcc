//! What one sink has got: per producer and lane, and by function, so that it can be compared with the
//! calls that the processes counted themselves.

use std::collections::BTreeMap;

use netra_event::frame::{Head, Kind, Producer};

use super::book::{pack_producer, unpack_producer};
use crate::batch::{Batch, count_events};
use crate::pack::{Malformed, Packer, Unpacker};

/// What a sink got of one producer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Got {
    /// Events by lane.
    pub lanes: BTreeMap<u32, u64>,
    /// Events by code of the function.
    pub functions: BTreeMap<u16, u64>,
    /// Events that the sink was told to go without, because it was too far behind.
    pub skipped: u64,
    /// Messages, metrics and the like, by kind.
    pub items: BTreeMap<u8, u64>,
}

impl Got {
    /// Events of all lanes.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.lanes.values().sum()
    }
}

/// What one sink has got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// By producer.
    pub producers: BTreeMap<Producer, Got>,
}

impl Tally {
    /// A batch was delivered.
    pub fn deliver(&mut self, batch: &Batch) {
        let head = &batch.head;
        let got = self.producers.entry(head.producer).or_default();
        if head.kind != Kind::Events {
            *got.items.entry(head.kind as u8).or_default() += u64::from(head.count);
            return;
        }
        let mut codes = [0_u64; 1024];
        let slots = batch.body().as_chunks().0;
        let events = count_events(slots, |code| {
            match codes.get_mut(usize::from(code)) {
                Some(count) => *count += 1,
                // Codes of a newer library are few; the map takes them.
                None => *got.functions.entry(code).or_default() += 1,
            }
        });
        *got.lanes.entry(head.lane).or_default() += u64::from(events);
        for (code, count) in (0_u16..).zip(codes).filter(|&(_, count)| count > 0) {
            *got.functions.entry(code).or_default() += count;
        }
    }

    /// A frame was delivered that nobody opened here: its head alone is counted.
    pub fn pass_on(&mut self, head: &Head) {
        let got = self.producers.entry(head.producer).or_default();
        match head.kind {
            Kind::Events => *got.lanes.entry(head.lane).or_default() += u64::from(head.events),
            kind => *got.items.entry(kind as u8).or_default() += u64::from(head.count),
        }
    }

    /// A frame was passed over.
    pub fn skip(&mut self, head: &Head) {
        if head.kind == Kind::Events {
            let got = self.producers.entry(head.producer).or_default();
            got.skipped += u64::from(head.events);
        }
    }

    /// What another tally says was passed over, was passed over here.
    pub fn add_skipped(&mut self, other: &Tally) {
        for (producer, got) in &other.producers {
            let skipped = &mut self.producers.entry(*producer).or_default().skipped;
            *skipped = skipped.saturating_add(got.skipped);
        }
    }

    pub(super) fn pack(&self, packer: &mut Packer) {
        packer.count(self.producers.len());
        for (producer, got) in &self.producers {
            pack_producer(packer, producer);
            packer.long(got.skipped).count(got.lanes.len());
            for (&lane, &events) in &got.lanes {
                packer.word(lane).long(events);
            }
            packer.count(got.functions.len());
            for (&code, &events) in &got.functions {
                packer.word(u32::from(code)).long(events);
            }
            packer.count(got.items.len());
            for (&kind, &items) in &got.items {
                packer.byte(kind).long(items);
            }
        }
    }

    pub(super) fn unpack(unpacker: &mut Unpacker<'_>) -> Result<Tally, Malformed> {
        let mut tally = Tally::default();
        for _ in 0..unpacker.count(40)? {
            let producer = unpack_producer(unpacker)?;
            let mut got = Got { skipped: unpacker.long()?, ..Got::default() };
            for _ in 0..unpacker.count(12)? {
                got.lanes.insert(unpacker.word()?, unpacker.long()?);
            }
            for _ in 0..unpacker.count(12)? {
                let code = u16::try_from(unpacker.word()?);
                let code = code.map_err(|_| unpacker.malformed("no code of a function"))?;
                got.functions.insert(code, unpacker.long()?);
            }
            for _ in 0..unpacker.count(9)? {
                got.items.insert(unpacker.byte()?, unpacker.long()?);
            }
            tally.producers.insert(producer, got);
        }
        Ok(tally)
    }
}
