//! A disk that stays full: what leaves the spool is all the room there will ever be, and with it everything
//! gets through, also over crashes.

use netra_stream::batch::{Batch, Images};
use netra_stream::intake::{Error, Intake};
use netra_stream::sink::Sink as _;
use netra_stream::spool::{Limits, Refused};

use crate::disk::{Disk, RESERVE};
use crate::random::Random;
use crate::run::{Kept, SINK, events, open_within};
use crate::seeds;

/// A file of the spool may be larger than the disk.
const LIMITS: Limits = Limits { total: 1 << 20, file: 64 << 10 };
const EVENTS: u64 = 2000;

/// The sink takes what is there.
fn deliver(intake: &Intake, sink: &mut Kept) {
    let (number, mut reader, mut outlet) = intake.outlet(SINK).unwrap();
    sink.resume(&outlet.mark).unwrap();
    let base = outlet.position;
    while intake.fill(&mut reader).unwrap() {
        while let Some(bytes) = reader.next() {
            let batch = Batch::open(bytes).unwrap();
            sink.take(&batch, &Images::new()).unwrap();
            outlet.tally.deliver(&batch);
        }
    }
    outlet.position = reader.position();
    outlet.mark = sink.commit().unwrap();
    assert!(intake.delivered(number, base, outlet));
}

#[test]
fn a_disk_that_stays_full_lets_everything_through() {
    let (mut crashes, mut full) = (0, 0);
    for seed in 0..seeds() {
        let mut random = Random(seed);
        let disk = Disk::new(RESERVE + 2048 + random.below(2048) as usize);
        let (mut intake, mut sink) = (open_within(&disk, LIMITS).unwrap(), Kept::default());
        let (mut next, mut rounds) = (0, 0);
        while next < EVENTS {
            rounds += 1;
            assert!(rounds < 2 * EVENTS, "seed {seed}: stuck at {next}");
            let count = (1 + random.below(40)).min(EVENTS - next);
            match intake.offer(&events(0, next, count as u32)) {
                Ok(_) => next += count,
                Err(Error::Spool(Refused::Full)) => {
                    full += 1;
                    intake.checkpoint().unwrap();
                    deliver(&intake, &mut sink);
                    intake.checkpoint().unwrap();
                }
                Err(error) => panic!("seed {seed}: {error}"),
            }
            if random.once_in(20) {
                crashes += 1;
                intake.sync().unwrap();
                disk.crash(&mut random);
                intake = open_within(&disk, LIMITS).unwrap();
            }
        }
        deliver(&intake, &mut sink);
        let mut at = 0;
        for &(_, from, count) in &sink.ranges {
            assert_eq!(from, at, "seed {seed}: a hole or a repetition");
            at += u64::from(count);
        }
        assert_eq!(at, EVENTS, "seed {seed}");
    }
    println!("seeds 0..{}: {full} times full, {crashes} crashes", seeds());
    assert!(full > seeds() && crashes > seeds(), "a phase was never hit");
}
