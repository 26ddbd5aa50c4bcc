//! Sinks that may go without. A sink holds what it has not got in the spool, and a full spool takes nothing
//! more; one that is optional is moved on instead, past what it is too slow for, and what it thereby never
//! gets is counted as its own.
//!
//! The sink itself may be stuck and is not asked. When it says later how far it has come, it learns that it
//! was moved, goes back to its last mark, and goes on from its new place.

use std::io;

use super::Intake;
use super::inner::Inner;
use crate::frame;
use crate::ledger::Tally;
use crate::spool::Reader;
use crate::told;

/// A sink that is too far behind, where it reads, and where it shall go on.
struct Laggard {
    number: usize,
    base: u64,
    reader: Reader,
    until: u64,
}

impl Inner {
    /// Up to where optional sinks would have to go so that half of the spool is free; not beyond what
    /// others hold anyway.
    fn half(&self) -> u64 {
        let needed = self.outlets.iter().filter(|outlet| !self.optional.contains(&outlet.name));
        let needed = needed.map(|outlet| outlet.position).min().unwrap_or(u64::MAX);
        needed.min(self.spool.end().saturating_sub(self.spool.bytes() / 2))
    }

    /// Whether room can be had by moving a sink on.
    pub(super) fn has_laggards(&self) -> bool {
        self.pressed && self.laggards().next().is_some()
    }

    fn laggards(&self) -> impl Iterator<Item = usize> {
        let half = self.half();
        let outlets = self.outlets.iter().enumerate();
        outlets
            .filter(move |(_, outlet)| {
                self.optional.contains(&outlet.name) && outlet.position < half
            })
            .map(|(number, _)| number)
    }

    /// The spool is pressed when an eighth of it is left.
    pub(super) fn feel_pressure(&mut self) {
        self.pressed |= self.spool.room() < self.spool.limit() / 8;
    }
}

impl Intake {
    /// Moves optional sinks on that hold up a full spool; true if one was.
    ///
    /// # Errors
    /// The spool can not be read.
    pub(super) fn leave_behind(&self) -> io::Result<bool> {
        let laggards: Vec<Laggard> = {
            let mut inner = self.lock();
            if !std::mem::take(&mut inner.pressed) {
                return Ok(false);
            }
            let until = inner.half();
            let laggard = |number: usize| {
                let base = inner.outlets[number].position;
                Laggard { number, base, reader: inner.spool.reader(base), until }
            };
            inner.laggards().map(laggard).collect()
        };
        let mut moved = false;
        for laggard in laggards {
            moved |= self.move_on(laggard)?;
        }
        Ok(moved)
    }

    fn move_on(&self, mut laggard: Laggard) -> io::Result<bool> {
        let mut skipped = Tally::default();
        while laggard.reader.position() < laggard.until && self.fill(&mut laggard.reader)? {
            while laggard.reader.position() < laggard.until
                && let Some(bytes) = laggard.reader.next()
            {
                if let Ok(Some(head)) = frame::peek(bytes) {
                    skipped.skip(&head);
                }
            }
        }
        let (from, to) = (laggard.base, laggard.reader.position());
        let events: u64 = skipped.producers.values().map(|got| got.skipped).sum();
        let mut inner = self.lock();
        let Some(outlet) = inner.outlets.get_mut(laggard.number) else { return Ok(false) };
        if outlet.position != from {
            // It has moved by itself meanwhile.
            return Ok(false);
        }
        outlet.position = to;
        outlet.tally.add_skipped(&skipped);
        let name = outlet.name.clone();
        inner.changed = true;
        drop(inner);
        told::add(&self.told.counters.events_skipped, events);
        let bytes = to - from;
        self.told.say(format_args!(
            "sink {name} goes without {events} events ({bytes} bytes): it is too far behind, and the spool is full"
        ));
        Ok(true)
    }
}
