//! The lane's protocol under every interleaving (loom), with a slow, a dead and a torn other side.
//!
//! `src/lane.rs` is compiled here a second time, with loom's atomics in place of the real ones.
#![expect(unreachable_pub, reason = "the file is a part of the library")]

mod sync {
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
#[path = "../src/lane.rs"]
mod lane;

use lane::{Chunk, Chunks, Consumer, Lane, Producer, ack_chunks, ack_word};
use loom::sync::Arc;
use loom::thread;
pub use netra_event::Loss;
use sync::{AtomicU32, Ordering};

/// Two slots a chunk, so that every third event crosses a border.
const N: usize = 2;

struct Shared {
    lane: Lane,
    chunks: Vec<Chunk<N>>,
    taken: AtomicU32,
}

impl Shared {
    fn new(budget: usize) -> Arc<Shared> {
        let chunks = (0..budget).map(|_| Chunk::default()).collect();
        Arc::new(Shared { lane: Lane::default(), chunks, taken: AtomicU32::new(0) })
    }
}

impl<'a> Chunks<'a, N> for &'a Shared {
    fn chunk(&self, number: u32) -> Option<&'a Chunk<N>> {
        self.chunks.get(number as usize)
    }
    fn take(&self) -> Result<u32, Loss> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if (number as usize) < self.chunks.len() { Ok(number) } else { Err(Loss::Budget) }
    }
}

/// Pushes `1..=count` and returns how many had to be dropped.
fn produce(shared: &Shared, count: u64) -> u64 {
    let mut producer = Producer::default();
    let mut dropped = 0;
    for value in 1..=count {
        let words = [value, !value, value, value];
        if producer.push(&shared.lane, words) {
            continue;
        }
        match producer.grow(&shared.lane, 0, &shared) {
            Ok(()) => assert!(producer.push(&shared.lane, words)),
            Err(reason) => {
                assert_eq!(reason, Loss::Budget);
                shared.lane.count_dropped(reason, value);
                dropped += 1;
            }
        }
    }
    dropped
}

/// Reads what is there and checks that slots are whole and in order.
fn consume(shared: &Shared, consumer: &mut Consumer, last: &mut u64) -> u64 {
    let mut seen = 0;
    while let Some(words) = consumer.step(&shared.lane, &shared) {
        assert_eq!(words[1], !words[0], "a slot below head is complete");
        assert!(words[0] > *last, "slots come in order, none twice");
        *last = words[0];
        seen += 1;
    }
    seen
}

#[test]
fn what_is_not_dropped_arrives_once_and_in_order() {
    loom::model(|| {
        let shared = Shared::new(2);
        let other = Arc::clone(&shared);
        let producer = thread::spawn(move || produce(&other, 5));
        let (mut consumer, mut last) = (Consumer::default(), 0);
        let mut seen = consume(&shared, &mut consumer, &mut last);
        let dropped = producer.join().unwrap();
        seen += consume(&shared, &mut consumer, &mut last);
        assert_eq!(seen + dropped, 5);
        assert_eq!(shared.lane.head.load(Ordering::Relaxed), seen);
        assert_eq!(shared.lane.dropped[0].count.load(Ordering::Relaxed), dropped);
    });
}

#[test]
fn a_dead_reader_costs_events_but_never_overwrites_them() {
    loom::model(|| {
        let shared = Shared::new(2);
        let other = Arc::clone(&shared);
        let producer = thread::spawn(move || produce(&other, 6));
        // One step, and it is never heard of again.
        let first = Consumer::default().step(&shared.lane, &&*shared);
        assert!(first.is_none_or(|words| words[0] == 1));
        assert_eq!(producer.join().unwrap(), 2);
        let mut last = 0;
        assert_eq!(consume(&shared, &mut Consumer::default(), &mut last), 4);
    });
}

#[test]
fn a_producer_that_dies_leaves_a_whole_prefix() {
    loom::model(|| {
        let shared = Shared::new(1);
        let other = Arc::clone(&shared);
        let producer = thread::spawn(move || {
            let mut producer = Producer::default();
            assert!(producer.grow(&other.lane, 0, &&*other).is_ok());
            assert!(producer.push(&other.lane, [1, !1, 1, 1]));
            // It dies between filling a slot and publishing it.
            other.chunks[0].slots[1].write([2, 9, 9, 9]);
        });
        let (mut consumer, mut last) = (Consumer::default(), 0);
        let seen = consume(&shared, &mut consumer, &mut last);
        assert!(seen <= 1);
        producer.join().unwrap();
        assert_eq!(seen + consume(&shared, &mut consumer, &mut last), 1);
    });
}

#[test]
fn a_torn_acknowledgement_frees_nothing() {
    for (old, new) in [(0_u32, 1_u32), (0xff, 0x100), (0xffff, 0x1_0000), (7, 0xffff_fffe)] {
        let (before, after) = (ack_word(old).to_le_bytes(), ack_word(new).to_le_bytes());
        for tear in 1..8 {
            let (mut front, mut back) = (before, after);
            front[..tear].copy_from_slice(&after[..tear]);
            back[..tear].copy_from_slice(&before[..tear]);
            for torn in [front, back] {
                let read = ack_chunks(u64::from_le_bytes(torn));
                // Either it is refused, or all bytes that differ were written: never a third value.
                let known = [None, Some(old), Some(new)].contains(&read);
                assert!(known, "{old:x} to {new:x} torn at {tear}: {read:?}");
            }
        }
        assert_eq!(ack_chunks(u64::from_le_bytes(after)), Some(new));
    }
    assert_eq!(ack_chunks(0), None);
}

#[test]
fn an_impossible_acknowledgement_frees_nothing() {
    loom::model(|| {
        let shared = Shared::new(1);
        shared.lane.ack.store(ack_word(1_000), Ordering::Relaxed);
        assert_eq!(produce(&shared, 4), 2, "more than was written");
    });
}

#[test]
fn wide_events_stay_in_one_chunk() {
    loom::model(|| {
        let shared = Shared::new(2);
        let mut producer = Producer::default();
        assert!(producer.grow(&shared.lane, 0, &&*shared).is_ok());
        assert!(producer.push(&shared.lane, [1; 4]));
        assert!(!producer.push_wide(&shared.lane, [2; 4], [3; 4]), "one slot is left");
        assert!(producer.grow(&shared.lane, 0, &&*shared).is_ok());
        assert!(producer.push_wide(&shared.lane, [2; 4], [3; 4]));
        assert_eq!(shared.lane.head.load(Ordering::Relaxed), 4);
        assert_eq!(shared.lane.extra.load(Ordering::Relaxed), 2, "the padding and the second slot");
        let mut consumer = Consumer::default();
        let read = [(); 4].map(|()| consumer.step(&shared.lane, &&*shared));
        assert_eq!(read, [Some([1; 4]), Some([0; 4]), Some([2; 4]), Some([3; 4])]);
    });
}
