//! A sender that repeats what was not acknowledged, a daemon that crashes, a sink with marks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use netra_event::frame::{Kind, Producer};
use netra_stream::batch::{Batch, Images};
use netra_stream::clock::Clock;
use netra_stream::frame::{self, Subject};
use netra_stream::intake::{Error, Intake, Setup};
use netra_stream::ledger::Outlet;
use netra_stream::sink::Sink;
use netra_stream::spool::{Limits, Refused, Storage};
use netra_stream::told::Told;

use crate::disk::Disk;
use crate::random::Random;
use crate::seeds;

pub(crate) const SINK: &str = "model";
const LANES: u32 = 3;
const LIMITS: Limits = Limits { total: 6 << 10, file: 1 << 10 };

/// No sink takes anything away here.
const WIDE: Limits = Limits { total: 64 << 10, file: 1 << 10 };

/// A frame of events, each of which is a slot with a code.
pub(crate) fn events(lane: u32, from: u64, count: u32) -> Vec<u8> {
    let mut body = Vec::new();
    for index in from..from + u64::from(count) {
        let words = [index, index.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0, 19 << 32];
        body.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
    }
    let producer = Producer { host: 1, start: 2, pid: 3 };
    let subject =
        Subject { kind: Kind::Events, producer, lane, from, count, events: count, time: 0 };
    let mut bytes = Vec::new();
    frame::seal(&subject, &body, &mut bytes).unwrap();
    bytes
}

/// Keeps the ranges it got; its mark is how many.
#[derive(Default, Clone)]
pub(crate) struct Kept {
    pub(crate) ranges: Vec<(u32, u64, u32)>,
}

impl Sink for Kept {
    fn take(&mut self, batch: &Batch, _: &Images) -> std::io::Result<()> {
        self.ranges.push((batch.head.lane, batch.head.from, batch.head.count));
        Ok(())
    }

    fn commit(&mut self) -> std::io::Result<Vec<u8>> {
        Ok((self.ranges.len() as u64).to_le_bytes().to_vec())
    }

    fn resume(&mut self, mark: &[u8]) -> std::io::Result<()> {
        let count = mark.first_chunk().map_or(0, |mark| u64::from_le_bytes(*mark));
        self.ranges.truncate(count as usize);
        Ok(())
    }
}

/// What the sender knows of one lane.
#[derive(Default, Clone, Copy)]
struct Lane {
    /// Events that exist.
    made: u64,
    /// Events that were acknowledged.
    acknowledged: u64,
    /// Events that were offered since the last crash, and the position behind them.
    offered: u64,
    position: u64,
}

struct Run {
    random: Random,
    disk: Disk,
    intake: Intake,
    lanes: [Lane; LANES as usize],
    sink: Kept,
    outlet: Outlet,
    crashes: u64,
    full: u64,
}

fn open(disk: &Disk) -> std::io::Result<Intake> {
    open_within(disk, LIMITS)
}

pub(crate) fn open_within(disk: &Disk, limits: Limits) -> std::io::Result<Intake> {
    let setup = Setup {
        limits,
        own: Producer::default(),
        images: false,
        outlets: vec![SINK.to_owned()],
        optional: Default::default(),
    };
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    Intake::open(storage, setup, Arc::new(Told::quiet()), Arc::new(Clock::default()))
}

impl Run {
    fn new(seed: u64) -> Run {
        let disk = Disk::new(1 << 20);
        let intake = open(&disk).unwrap();
        let outlet = intake.outlet(SINK).unwrap().2;
        let (lanes, sink) = Default::default();
        Run { random: Random(seed), disk, intake, lanes, sink, outlet, crashes: 0, full: 0 }
    }

    /// One step; a failure of the disk becomes a crash.
    fn step(&mut self) {
        let failed = match self.random.below(10) {
            0..=4 => self.offer(),
            5 | 6 => self.intake.sync().is_err(),
            7 => self
                .intake
                .checkpoint()
                .is_err_and(|error| error.kind() != std::io::ErrorKind::StorageFull),
            8 => self.deliver(),
            _ => {
                self.light();
                false
            }
        };
        self.acknowledge();
        if failed || self.random.once_in(200) {
            self.crash();
        }
    }

    /// Some time later the machine goes down, or the disk is full for a while.
    fn light(&mut self) {
        if self.random.once_in(4) {
            self.disk.light(self.random.below(12));
        }
        let room = if self.random.once_in(5) { 4 << 10 } else { 1 << 20 };
        self.disk.set_room(room);
    }

    fn offer(&mut self) -> bool {
        let lane = self.random.below(u64::from(LANES)) as usize;
        let state = &mut self.lanes[lane];
        // Sometimes a range begins before what is new, as after a node's own crash.
        let back = self.random.below(4).min(state.offered - state.acknowledged.min(state.offered));
        let from = state.offered - back;
        let count = 1 + self.random.below(40) as u32;
        match self.intake.offer(&events(lane as u32, from, count)) {
            Ok(taken) => {
                state.offered = state.offered.max(from + u64::from(count));
                state.made = state.made.max(state.offered);
                state.position = taken.position();
                false
            }
            Err(Error::Spool(Refused::Full)) => {
                self.full += 1;
                false
            }
            Err(_) => true,
        }
    }

    /// What is durable is acknowledged: from now on it must never be lost.
    fn acknowledge(&mut self) {
        let committed = self.intake.committed();
        for lane in &mut self.lanes {
            if lane.position <= committed {
                lane.acknowledged = lane.offered;
            }
        }
    }

    fn deliver(&mut self) -> bool {
        let Some((number, mut reader, _)) = self.intake.outlet(SINK) else { return true };
        reader.seek(self.outlet.position);
        while self.intake.fill(&mut reader).unwrap() {
            while let Some(bytes) = reader.next() {
                let batch = Batch::open(bytes).unwrap();
                self.sink.take(&batch, &Images::new()).unwrap();
                self.outlet.tally.deliver(&batch);
            }
        }
        let base = self.outlet.position;
        self.outlet.position = reader.position();
        self.outlet.mark = self.sink.commit().unwrap();
        assert!(self.intake.delivered(number, base, self.outlet.clone()));
        false
    }

    fn crash(&mut self) {
        self.crashes += 1;
        self.disk.crash(&mut self.random);
        self.disk.set_room(1 << 20);
        self.intake = open(&self.disk).unwrap();
        self.outlet = self.intake.outlet(SINK).unwrap().2;
        self.sink.resume(&self.outlet.mark).unwrap();
        // The sender goes on behind what was acknowledged.
        for lane in &mut self.lanes {
            lane.offered = lane.acknowledged;
            lane.position = 0;
        }
    }

    /// Without faults everything arrives; then each index must be there once.
    fn finish(&mut self, seed: u64) -> u64 {
        self.crash();
        for lane in 0..LANES as usize {
            loop {
                let state = self.lanes[lane];
                if state.offered >= state.made {
                    break;
                }
                let count = (state.made - state.offered).min(40) as u32;
                match self.intake.offer(&events(lane as u32, state.offered, count)) {
                    Ok(_) => self.lanes[lane].offered += u64::from(count),
                    Err(_) => {
                        self.deliver();
                        self.intake.checkpoint().unwrap();
                    }
                }
            }
        }
        self.deliver();
        self.intake.checkpoint().unwrap();
        let mut total = 0;
        for (lane, state) in (0..).zip(&self.lanes) {
            let mut next = 0;
            for &(_, from, count) in self.sink.ranges.iter().filter(|range| range.0 == lane) {
                assert_eq!(from, next, "seed {seed}: lane {lane} has a hole or a repetition");
                next = from + u64::from(count);
            }
            assert_eq!(next, state.made, "seed {seed}: lane {lane} ends too early");
            total += state.made;
        }
        let broken = &self.intake.told.counters.ledger_broken;
        assert_eq!(broken.load(Ordering::Relaxed), 0, "seed {seed}: the audit");
        let kept = self.intake.state();
        let received: u64 = kept.book.producers.values().map(|of| of.received()).sum();
        let delivered: u64 = kept.outlets[0].tally.producers.values().map(|got| got.events()).sum();
        assert_eq!((received, delivered), (total, total), "seed {seed}: the account");
        total
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_comes_twice() {
    let (mut crashes, mut full, mut events) = (0, 0, 0);
    for seed in 0..seeds() {
        let mut run = Run::new(seed);
        for _ in 0..400 {
            run.step();
        }
        events += run.finish(seed);
        crashes += run.crashes;
        full += run.full;
    }
    println!("seeds 0..{}: {crashes} crashes, {full} times full, {events} events", seeds());
    assert!(crashes > seeds() * 3 && full > 0 && events > 0, "a phase was never hit");
}

#[test]
fn a_crash_at_every_single_step_is_survived() {
    /// Says how much was acknowledged before the disk failed.
    fn script(disk: &Disk) -> u64 {
        let Ok(intake) = open_within(disk, WIDE) else { return 0 };
        let (mut acknowledged, mut next) = (0, 0);
        for _ in 0..6 {
            for _ in 0..4 {
                if intake.offer(&events(0, next, 30)).is_err() {
                    return acknowledged;
                }
                next += 30;
            }
            if intake.sync().is_err() {
                return acknowledged;
            }
            acknowledged = next;
            if intake.checkpoint().is_err() {
                return acknowledged;
            }
        }
        acknowledged
    }
    let whole = Disk::new(1 << 20);
    assert_eq!(script(&whole), 720);
    let steps = whole.steps();
    for fuse in 0..steps {
        let (disk, mut random) = (Disk::new(1 << 20), Random(fuse));
        disk.light(fuse);
        let acknowledged = script(&disk);
        disk.crash(&mut random);
        let intake = open_within(&disk, WIDE).unwrap();
        let producer = Producer { host: 1, start: 2, pid: 3 };
        let (slots, _) = intake.received(&producer, 0);
        assert!(slots >= acknowledged, "fuse {fuse}: {slots} of {acknowledged}");
    }
    println!("{steps} steps, a crash after each");
}
