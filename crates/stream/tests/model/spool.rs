//! The spool alone: flipped bits are named and stepped over, everything else is read.

use std::sync::Arc;

use netra_event::frame::{Kind, Producer};
use netra_stream::frame::{self, Subject};
use netra_stream::spool::{Limits, Spool, Storage};

use crate::disk::Disk;
use crate::random::Random;
use crate::seeds;

fn message(number: u64) -> Vec<u8> {
    let subject = Subject::single(Kind::Message, Producer::default(), 0, number, 0);
    let mut bytes = Vec::new();
    frame::seal(&subject, &vec![number as u8; 20 + number as usize % 50], &mut bytes).unwrap();
    bytes
}

fn open(disk: &Disk) -> (Spool, usize) {
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let limits = Limits { total: 1 << 20, file: 2 << 10 };
    let (spool, damage) = Spool::open(storage, limits, 7).unwrap();
    (spool, damage.len())
}

fn read(spool: &Spool) -> Vec<u64> {
    let mut reader = spool.reader(0);
    let mut found = Vec::new();
    while let Some(piece) = reader.plan(spool) {
        reader.fill(&piece).unwrap();
        while let Some(bytes) = reader.next() {
            found.push(frame::check(bytes).unwrap().from);
        }
    }
    found
}

#[test]
fn a_flipped_bit_costs_its_frame_and_no_other() {
    for seed in 0..seeds() {
        let (disk, mut random) = (Disk::new(1 << 20), Random(seed));
        let (mut spool, _) = open(&disk);
        for number in 0..100 {
            spool.append(&message(number)).unwrap();
        }
        spool.commit().unwrap();
        let files: Vec<String> = disk.list().unwrap();
        assert!(files.len() > 3);
        let file = &files[random.below(files.len() as u64) as usize];
        // Behind the file's own header, which has no frames to lose.
        let bit = 32 * 8 + random.below((disk.length(file) - 32) as u64 * 8) as usize;
        disk.flip(file, bit);
        let (spool, damaged) = open(&disk);
        let found = read(&spool);
        let missing: Vec<u64> = (0..100).filter(|number| !found.contains(number)).collect();
        assert_eq!(missing.len(), 1, "seed {seed}: {missing:?}");
        // The last frame of the last file can not be told from a torn end.
        assert!(
            damaged == 1 || missing == [99] || is_last_of_file(&spool, &missing),
            "seed {seed}"
        );
        assert!(found.is_sorted());
    }
}

/// A frame at the end of a file that is not the last is as good as torn, too.
fn is_last_of_file(spool: &Spool, missing: &[u64]) -> bool {
    let mut reader = spool.reader(0);
    let mut before = None;
    while let Some(piece) = reader.plan(spool) {
        reader.fill(&piece).unwrap();
        let mut first = true;
        while let Some(bytes) = reader.next() {
            let number = frame::check(bytes).unwrap().from;
            if first && before.is_some_and(|last: u64| last + 1 == missing[0]) {
                return true;
            }
            first = false;
            before = Some(number);
        }
    }
    false
}

#[test]
fn positions_go_on_over_files_restarts_and_trims() {
    let disk = Disk::new(1 << 20);
    let (mut spool, _) = open(&disk);
    let mut ends = Vec::new();
    for number in 0..60 {
        ends.push(spool.append(&message(number)).unwrap());
    }
    spool.commit().unwrap();
    let (mut spool, damage) = open(&disk);
    assert_eq!((spool.end(), damage), (ends[59], 0));
    spool.trim(ends[30]).unwrap();
    let found = read(&spool);
    assert!(found[0] > 0 && found[0] <= 31 && found.last() == Some(&59), "{found:?}");
    assert_eq!(spool.append(&message(60)).unwrap(), ends[59] + message(60).len() as u64);
    let mut reader = spool.reader(ends[40]);
    reader.fill(&reader.plan(&spool).unwrap()).unwrap();
    assert_eq!(frame::check(reader.next().unwrap()).unwrap().from, 41);
}
