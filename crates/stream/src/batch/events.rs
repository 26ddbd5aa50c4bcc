//! The slots of a batch of events.

use netra_event::frame::Head;
use netra_event::{CODE, Event, SECOND, SLOT_BYTES};

use crate::pack::Malformed;

/// The calls of a batch, with their index in the lane. Slots that are no event are passed over:
/// padding, and calls that a filter of the daemon has blanked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events<'a> {
    slots: &'a [[u8; SLOT_BYTES]],
    from: u64,
    at: usize,
}

impl<'a> Events<'a> {
    /// The slots of a body.
    ///
    /// # Errors
    /// The head does not say how many slots or events there are.
    pub fn new(head: &Head, body: &'a [u8]) -> Result<Events<'a>, Malformed> {
        let (slots, rest) = body.as_chunks::<SLOT_BYTES>();
        if !rest.is_empty() || slots.len() != head.count as usize {
            return Err(Malformed { at: 0, what: "another number of slots than the head says" });
        }
        Ok(Events { slots, from: head.from, at: 0 })
    }

    fn slot(&mut self) -> Option<[u64; 4]> {
        let words = self.slots.get(self.at)?.as_chunks::<8>().0;
        self.at += 1;
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        Some([word(0), word(1), word(2), word(3)])
    }
}

impl Iterator for Events<'_> {
    /// Index in the lane, and the call.
    type Item = (u64, Event);

    fn next(&mut self) -> Option<(u64, Event)> {
        loop {
            let index = self.from.wrapping_add(self.at as u64);
            let first = self.slot()?;
            let second = if Event::is_wide(first) { self.slot() } else { None };
            if let Ok(event) = Event::decode(first, second) {
                return Some((index, event));
            }
        }
    }
}

/// How many slots begin an event; `each` gets its code. Quicker than decoding them.
pub fn count_events(slots: &[[u8; SLOT_BYTES]], mut each: impl FnMut(u16)) -> u32 {
    let mut events = 0;
    for slot in slots {
        let word = u16::from_le_bytes([slot[28], slot[29]]);
        if word & SECOND == 0 && word & CODE != 0 {
            events += 1;
            each(word & CODE);
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Batch, Payload};
    use crate::frame::Subject;
    use netra_event::frame::{Kind, Producer};
    use netra_event::{Function, NO_OFFSET, WIDE};

    fn bytes(words: [u64; 4]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn slots_become_events_with_their_indices() {
        let event = |start: u64, result: i64| Event {
            start,
            duration: 1,
            offset: NO_OFFSET,
            length: 10,
            result,
            file: 2,
            code: Function::Pwrite.code(),
            failed: false,
            site: 0,
            parent: 0,
            number: 0,
            extension: 0,
        };
        let (one, wide) = (event(100, 10), event(200, 4));
        let mut body = bytes(one.first(0));
        body.extend(bytes([0; 4]));
        body.extend(bytes(wide.first(WIDE)));
        body.extend(bytes(wide.second()));
        let mut codes = Vec::new();
        let events = count_events(body.as_chunks().0, |code| codes.push(code));
        assert_eq!((events, codes), (2, vec![Function::Pwrite.code(); 2]));
        let subject = Subject {
            kind: Kind::Events,
            producer: Producer::default(),
            lane: 0,
            from: 1000,
            count: 4,
            events,
            time: 0,
        };
        let batch = Batch::plain(&subject, body.clone());
        let Ok(Some(Payload::Events(found))) = batch.payload() else { panic!("no events") };
        assert_eq!(found.collect::<Vec<_>>(), [(1000, one), (1002, wide)]);
        body.pop();
        assert!(Batch::plain(&subject, body).payload().is_err());
    }
}
