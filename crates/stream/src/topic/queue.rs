//! What one subscriber has not taken yet: bounded, with every loss counted where it happened.
//!
//! A frame that has no room is left out, and the next one that has is told after how many were missed;
//! so a subscriber knows not only how much it lost but also where. Frames that later ones can not be read
//! without (*essential* ones) have room of their own; a subscriber that lets even that fill up is given up.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes that a subscriber may leave untaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For all frames.
    pub ordinary: usize,
    /// Beyond that, for essential ones.
    pub essential: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { ordinary: 8 << 20, essential: 32 << 20 }
    }
}

/// What a subscriber gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A frame.
    Frame(Arc<[u8]>),
    /// So many frames with so many events are missing here.
    Missed(Loss),
}

/// What had no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loss {
    /// Frames.
    pub frames: u64,
    /// Events in them; messages and metrics count as one.
    pub events: u64,
}

impl Loss {
    fn add(&mut self, other: Loss) {
        self.frames = self.frames.saturating_add(other.frames);
        self.events = self.events.saturating_add(other.events);
    }
}

/// A subscriber's queue.
#[derive(Debug)]
pub struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    limits: Limits,
    /// Missed since the last frame that had room.
    missing: Loss,
    /// Missed in all.
    missed: Loss,
    given_up: bool,
}

impl Queue {
    /// Nothing in it.
    #[must_use]
    pub fn new(limits: Limits) -> Queue {
        let (missing, missed) = (Loss::default(), Loss::default());
        Queue { items: VecDeque::new(), bytes: 0, limits, missing, missed, given_up: false }
    }

    /// Puts a frame in; false if there is no room.
    pub fn push(&mut self, frame: &Arc<[u8]>, events: u64, essential: bool) -> bool {
        if self.given_up {
            self.missed.add(Loss { frames: 1, events });
            return false;
        }
        let after = self.bytes.saturating_add(frame.len());
        let room = match essential {
            true => self.limits.ordinary.saturating_add(self.limits.essential),
            false => self.limits.ordinary,
        };
        if after > room {
            self.lose(Loss { frames: 1, events });
            self.given_up |= essential;
            return false;
        }
        if self.missing != Loss::default() {
            self.items.push_back(Item::Missed(std::mem::take(&mut self.missing)));
        }
        self.bytes = after;
        self.items.push_back(Item::Frame(Arc::clone(frame)));
        true
    }

    fn lose(&mut self, loss: Loss) {
        self.missing.add(loss);
        self.missed.add(loss);
    }

    /// Takes the next item. What is missing at the end is told when nothing else is left.
    pub fn pop(&mut self) -> Option<Item> {
        match self.items.pop_front() {
            Some(item) => {
                if let Item::Frame(frame) = &item {
                    self.bytes -= frame.len();
                }
                Some(item)
            }
            None if self.missing != Loss::default() => {
                Some(Item::Missed(std::mem::take(&mut self.missing)))
            }
            None => None,
        }
    }

    /// What was missed since the beginning.
    #[must_use]
    pub fn missed(&self) -> Loss {
        self.missed
    }

    /// Whether an essential frame had no room: nothing that follows could be read.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: Limits = Limits { ordinary: 10, essential: 5 };

    fn frame(number: u8, length: usize) -> Arc<[u8]> {
        vec![number; length].into()
    }

    #[test]
    fn a_loss_is_told_where_it_happened() {
        let mut queue = Queue::new(SMALL);
        queue.push(&frame(1, 6), 100, false);
        queue.push(&frame(2, 6), 200, false);
        queue.push(&frame(3, 6), 300, false);
        assert_eq!(queue.pop(), Some(Item::Frame(frame(1, 6))));
        queue.push(&frame(4, 6), 400, false);
        assert_eq!(queue.pop(), Some(Item::Missed(Loss { frames: 2, events: 500 })));
        assert_eq!(queue.pop(), Some(Item::Frame(frame(4, 6))));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_loss_at_the_end_is_told_when_the_queue_is_empty() {
        let mut queue = Queue::new(SMALL);
        queue.push(&frame(1, 11), 7, false);
        assert_eq!(queue.pop(), Some(Item::Missed(Loss { frames: 1, events: 7 })));
        assert_eq!((queue.pop(), queue.missed()), (None, Loss { frames: 1, events: 7 }));
    }

    #[test]
    fn essential_frames_have_room_of_their_own_and_then_end_it() {
        let mut queue = Queue::new(SMALL);
        queue.push(&frame(1, 10), 1, false);
        queue.push(&frame(2, 5), 1, true);
        assert!(!queue.is_given_up());
        queue.push(&frame(3, 1), 1, true);
        assert!(queue.is_given_up());
        queue.push(&frame(4, 1), 1, false);
        assert_eq!(queue.missed().frames, 2);
    }

    /// Push a frame of this length (essential or not), or take one.
    fn steps() -> impl Strategy<Value = Vec<Option<(usize, bool)>>> {
        let step = prop_oneof![(0_usize..8, any::<bool>()).prop_map(Some), Just(None),];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Against a list of everything that was ever pushed: every frame comes out once and in order,
        /// or is counted as missed exactly where it is missing; memory stays within its bounds.
        #[test]
        fn nothing_is_lost_uncounted(steps in steps()) {
            let mut queue = Queue::new(SMALL);
            let (mut pushed, mut at, mut told) = (Vec::new(), 0_usize, Loss::default());
            let take = |item: Item, pushed: &[u64], at: &mut usize, told: &mut Loss| {
                match item {
                    Item::Frame(frame) => {
                        let number = u64::from_le_bytes(*frame.first_chunk().unwrap());
                        prop_assert_eq!(number, *at as u64);
                        *at += 1;
                    }
                    Item::Missed(loss) => {
                        let span = &pushed[*at..*at + usize::try_from(loss.frames).unwrap()];
                        prop_assert_eq!(span.iter().sum::<u64>(), loss.events);
                        *at += span.len();
                        told.add(loss);
                    }
                }
                Ok(())
            };
            for step in steps {
                match step {
                    Some((length, essential)) => {
                        let number = pushed.len() as u64;
                        let mut bytes = number.to_le_bytes().to_vec();
                        bytes.resize(8 + length, 0);
                        let events = number % 5;
                        queue.push(&bytes.into(), events, essential);
                        pushed.push(events);
                    }
                    None => {
                        if let Some(item) = queue.pop() {
                            take(item, &pushed, &mut at, &mut told)?;
                        }
                    }
                }
                prop_assert!(queue.bytes() <= SMALL.ordinary + SMALL.essential);
                prop_assert!(queue.items.len() <= 2 * (SMALL.ordinary + SMALL.essential));
            }
            let given_up = queue.is_given_up();
            while let Some(item) = queue.pop() {
                take(item, &pushed, &mut at, &mut told)?;
            }
            if given_up {
                prop_assert!(queue.missed().frames >= told.frames);
            } else {
                prop_assert_eq!((at, told), (pushed.len(), queue.missed()));
            }
        }
    }
}
