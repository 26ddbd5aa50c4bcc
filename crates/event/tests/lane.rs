//! The lane's protocol under every interleaving (loom), with a slow, a dead and a torn other side.
//!
//! `src/lane.rs` is compiled here a second time, with loom's atomics in place of the real ones.
//! `RUSTFLAGS="--cfg loom" cargo test -p netra-event --test lane`
#![cfg(loom)]
#![expect(unreachable_pub, reason = "the file is a part of the library")]

/// Loom's atomics, with one remedy: loom looks for other schedules only at the last access to a variable, and the lane's
/// producer reads its own head before it writes it, which hides the reader's access. So every access first touches a
/// second variable with a relaxed read-modify-write, which orders nothing but makes any two accesses visibly collide.
mod sync {
    pub use loom::sync::atomic::Ordering;
    macro_rules! atomic {
        ($name:ident, $value:ty) => {
            #[derive(Debug, Default)]
            pub struct $name {
                value: loom::sync::atomic::$name,
                touched: loom::sync::atomic::AtomicU32,
            }

            impl $name {
                pub fn new(value: $value) -> Self {
                    let value = loom::sync::atomic::$name::new(value);
                    $name { value, touched: loom::sync::atomic::AtomicU32::new(0) }
                }
                pub fn load(&self, order: Ordering) -> $value {
                    self.touched.fetch_add(1, Ordering::Relaxed);
                    self.value.load(order)
                }
                pub fn store(&self, value: $value, order: Ordering) {
                    self.touched.fetch_add(1, Ordering::Relaxed);
                    self.value.store(value, order);
                }
            }
        };
    }
    atomic!(AtomicU32, u32);
    atomic!(AtomicU64, u64);
}
#[path = "../src/lane.rs"]
mod lane;

use lane::{Chunk, Chunks, Consumer, Lane, Producer, ack_chunks, ack_word};
use loom::sync::Arc;
use loom::thread;
pub use netra_event::Loss;
use sync::Ordering;

/// Two slots a chunk, so that every third event crosses a border.
const N: usize = 2;

/// Bugs of this kind show with two; the number of runs grows steeply with it.
const PREEMPTIONS: usize = 4;

struct Shared {
    lane: Lane,
    chunks: Vec<Chunk<N>>,
    taken: loom::sync::atomic::AtomicU32,
}

impl Shared {
    fn new(budget: usize) -> Arc<Shared> {
        let chunks = (0..budget).map(|_| Chunk::default()).collect();
        Arc::new(Shared {
            lane: Lane::default(),
            chunks,
            taken: loom::sync::atomic::AtomicU32::new(0),
        })
    }
}

impl<'a> Chunks<'a, N> for &'a Shared {
    fn chunk(&self, number: u32) -> Option<&'a Chunk<N>> {
        self.chunks.get(number as usize)
    }
    fn take(&self) -> Result<(u32, usize), Loss> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        // Of the first chunk only one slot may be touched before it is completed.
        let room = if number == 0 { 1 } else { N };
        if (number as usize) < self.chunks.len() { Ok((number, room)) } else { Err(Loss::Budget) }
    }
    fn complete(&self, number: u32) -> Result<(), Loss> {
        assert_eq!(number, 0, "only the first is not complete");
        Ok(())
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

/// Runs a model of two threads under every interleaving with at most `PREEMPTIONS` of them, and makes sure that there
/// were many: a model that ran once has shown nothing.
fn under_every_interleaving(model: impl Fn() + Send + Sync + 'static) {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&runs);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        model();
    });
    let runs = runs.load(std::sync::atomic::Ordering::Relaxed);
    println!("{runs} interleavings");
    assert!(runs > 10, "only {runs} interleavings were tried");
}

#[test]
fn what_is_not_dropped_arrives_once_and_in_order() {
    under_every_interleaving(|| {
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
    under_every_interleaving(|| {
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
    under_every_interleaving(|| {
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
        let wide =
            |producer: &mut Producer<'_, N>| producer.push_wide(&shared.lane, [2; 4], [3; 4]);
        assert!(!wide(&mut producer), "the other slot may not be touched yet");
        assert!(producer.grow(&shared.lane, 0, &&*shared).is_ok());
        assert!(!wide(&mut producer), "one slot is left");
        assert!(producer.grow(&shared.lane, 0, &&*shared).is_ok());
        assert!(wide(&mut producer));
        assert_eq!(shared.lane.head.load(Ordering::Relaxed), 4);
        assert_eq!(shared.lane.extra.load(Ordering::Relaxed), 2, "the padding and the second slot");
        let mut consumer = Consumer::default();
        let read = [(); 4].map(|()| consumer.step(&shared.lane, &&*shared));
        assert_eq!(read, [Some([1; 4]), Some([0; 4]), Some([2; 4]), Some([3; 4])]);
    });
}
