//! Frames of jobs that never ran: processes with files on two mounts that write, read, open and fail, the same for the same numbers.
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses a part of it")]

use std::mem::offset_of;

use netra_event::frame::{Kind, Producer};
use netra_event::segment::{Calibration, Clock, Header, MAGIC, Region, State, VERSION, table};
use netra_event::{Event, FAILED, Function, NO_OFFSET, RecordId, WIDE, jenkins64};
use netra_stream::batch::{Account, HEADER, LaneAccount, Part, Phase, Process, pack_parts};
use netra_stream::frame::{Subject, seal};

/// When the first job begins: 2026-11-16, 05:40 UTC.
pub(crate) const START: u64 = 1_794_807_600_000_000_000;

/// A process of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maker {
    pub(crate) job: u64,
    pub(crate) rank: u32,
    pub(crate) nprocs: u32,
    /// Nanoseconds between two calls.
    pub(crate) every: u64,
}

/// A number that looks like chance and is not.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl Maker {
    pub(crate) fn key(&self) -> String {
        format!("slurm.{}.0", 1000 + self.job)
    }

    pub(crate) fn host(&self) -> String {
        format!("node{:03}", self.rank / 16)
    }

    fn begin(&self) -> u64 {
        START + self.job * 2_000_000_000
    }

    pub(crate) fn producer(&self) -> Producer {
        let host = jenkins64(self.host().as_bytes(), 0);
        let pid = u32::try_from(self.job * 1000).unwrap() + self.rank + 1;
        Producer { host, start: self.begin(), pid }
    }

    fn paths(&self) -> [String; 3] {
        [
            format!("/scratch/job{}/shared.h5", self.job),
            format!("/scratch/job{}/rank{}.dat", self.job, self.rank),
            "/home/ann/settings.txt".to_owned(),
        ]
    }

    pub(crate) fn life(&self, phase: Phase) -> Process {
        Process {
            phase,
            job: self.key().into_bytes(),
            job_id: i64::try_from(1000 + self.job).unwrap(),
            pid: self.producer().pid,
            uid: 1000 + u32::try_from(self.job % 5).unwrap(),
            rank: Some(self.rank),
            nprocs: Some(self.nprocs),
            host: self.host().into_bytes(),
            exe: b"/usr/bin/simulate".to_vec(),
            command: b"simulate --steps 10".to_vec(),
            start: self.begin(),
            end: phase.is_over().then(|| self.begin() + 600_000_000_000),
        }
    }

    fn frame(&self, kind: Kind, from: u64, body: &[u8], out: &mut Vec<u8>) {
        let subject = Subject::single(kind, self.producer(), 0, from, self.begin());
        seal(&subject, body, out).unwrap();
    }

    pub(crate) fn began(&self, out: &mut Vec<u8>) {
        self.frame(Kind::Life, 0, &self.life(Phase::Began).pack(), out);
    }

    /// The segment without its events.
    pub(crate) fn tables(&self, out: &mut Vec<u8>) {
        let (mut names, mut files) = (Vec::new(), vec![0; size_of::<table::File>()]);
        let mut name = |text: &str| {
            let reference = names.len() as u64 | (text.len() as u64) << 32;
            names.extend_from_slice(text.as_bytes());
            reference
        };
        let mut header = vec![0; size_of::<Header>()];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        let life = self.life(Phase::Began);
        put(offset_of!(Header, magic), &MAGIC);
        put(offset_of!(Header, version), &VERSION.to_le_bytes());
        put(offset_of!(Header, header_bytes), &(size_of::<Header>() as u32).to_le_bytes());
        put(offset_of!(Header, state), &(State::Running as u32).to_le_bytes());
        put(offset_of!(Header, pid), &life.pid.to_le_bytes());
        put(offset_of!(Header, uid), &life.uid.to_le_bytes());
        put(offset_of!(Header, rank_plus_one), &(self.rank + 1).to_le_bytes());
        put(offset_of!(Header, nprocs), &self.nprocs.to_le_bytes());
        put(offset_of!(Header, clock), &(Clock::Nanoseconds as u32).to_le_bytes());
        put(offset_of!(Header, job_id), &life.job_id.to_le_bytes());
        put(offset_of!(Header, calibrations), &1_u64.to_le_bytes());
        let at = offset_of!(Header, calibration);
        put(at, &0_u64.to_le_bytes());
        put(at + offset_of!(Calibration, realtime), &self.begin().to_le_bytes());
        put(offset_of!(Header, job), &name(&self.key()).to_le_bytes());
        put(offset_of!(Header, host), &name(&self.host()).to_le_bytes());
        put(offset_of!(Header, exe), &name("/usr/bin/simulate").to_le_bytes());
        put(offset_of!(Header, command), &name("simulate --steps 10").to_le_bytes());
        let mut mounts = Vec::new();
        for (point, kind) in [("/scratch", "lustre"), ("/home", "nfs")] {
            let mut row = vec![0; size_of::<table::Mount>()];
            row[offset_of!(table::Mount, point)..][..8].copy_from_slice(&name(point).to_le_bytes());
            row[offset_of!(table::Mount, kind)..][..8].copy_from_slice(&name(kind).to_le_bytes());
            row[offset_of!(table::Mount, ready)..][..4].copy_from_slice(&1_u32.to_le_bytes());
            mounts.extend(row);
        }
        for path in self.paths() {
            let mut row = vec![0; size_of::<table::File>()];
            let id = RecordId::of(path.as_bytes()).0;
            let mount = if path.starts_with("/scratch") { 1_u32 } else { 2 };
            row[offset_of!(table::File, id)..][..8].copy_from_slice(&id.to_le_bytes());
            row[offset_of!(table::File, name)..][..8].copy_from_slice(&name(&path).to_le_bytes());
            row[offset_of!(table::File, mount)..][..4].copy_from_slice(&mount.to_le_bytes());
            row[offset_of!(table::File, kind)..][..4].copy_from_slice(&1_u32.to_le_bytes());
            row[offset_of!(table::File, ready)..][..4].copy_from_slice(&1_u32.to_le_bytes());
            files.extend(row);
        }
        let part = |region: Region, stride: usize, bytes| Part {
            region: region as u32,
            stride: stride as u32,
            offset: 0,
            bytes,
        };
        let body = pack_parts(&[
            Part { region: HEADER, stride: 0, offset: 0, bytes: &header },
            part(Region::Names, 1, &names),
            part(Region::Mounts, size_of::<table::Mount>(), &mounts),
            part(Region::Files, size_of::<table::File>(), &files),
        ]);
        self.frame(Kind::Tables, 0, &body, out);
    }

    /// One call: most write, some read, few open or fail.
    pub(crate) fn event(&self, number: u64) -> Event {
        let chance = mix(self.job << 48 ^ u64::from(self.rank) << 32 ^ number);
        let size = [4096, 65_536, 65_536, 1 << 20][(chance >> 8) as usize % 4];
        let file = 1 + (chance >> 16) as u32 % 2;
        let base = Event {
            start: number * self.every + chance % (self.every / 2).max(1),
            duration: 2000 + chance % 50_000,
            offset: (number * 65_536).cast_signed(),
            length: size,
            result: size.cast_signed(),
            file,
            code: Function::Pwrite.code(),
            failed: false,
            site: 0,
            parent: 0,
            number: 0,
            extension: 0,
        };
        match chance % 100 {
            0 => Event {
                code: Function::Open.code(),
                offset: 0,
                length: 5,
                result: 5,
                file: 3,
                ..base
            },
            1 => Event {
                code: Function::Close.code(),
                offset: NO_OFFSET,
                length: 5,
                result: 5,
                file: 3,
                ..base
            },
            2 => Event { failed: true, result: -28, ..base },
            3..30 => Event { code: Function::Pread.code(), ..base },
            _ => base,
        }
    }

    /// Frames of the events `from ..`, given as slot and event of the first; says where the next begins. A call that fails takes two
    /// slots.
    pub(crate) fn events(
        &self,
        slot: u64,
        numbers: std::ops::Range<u64>,
        out: &mut Vec<u8>,
    ) -> u64 {
        let mut body = Vec::new();
        let words = |words: [u64; 4], body: &mut Vec<u8>| {
            words.iter().for_each(|word| body.extend_from_slice(&word.to_le_bytes()));
        };
        let (events, mut slots) = (numbers.end - numbers.start, 0_u32);
        for number in numbers {
            let event = self.event(number);
            if event.failed {
                words(event.first(WIDE | FAILED), &mut body);
                words(event.second(), &mut body);
                slots += 2;
            } else {
                words(event.first(0), &mut body);
                slots += 1;
            }
        }
        let subject = Subject {
            kind: Kind::Events,
            producer: self.producer(),
            lane: 0,
            from: slot,
            count: slots,
            events: events as u32,
            time: self.begin(),
        };
        seal(&subject, &body, out).unwrap();
        slot + u64::from(slots)
    }

    /// Slots that the first so many events take.
    pub(crate) fn slots(&self, events: u64) -> u64 {
        (0..events).map(|number| 1 + u64::from(self.event(number).failed)).sum()
    }

    /// The last words: that it ended, and its account.
    pub(crate) fn ended(&self, events: u64, out: &mut Vec<u8>) {
        self.frame(Kind::Life, 1, &self.life(Phase::Ended).pack(), out);
        let slots = self.slots(events);
        let lane = LaneAccount {
            lane: 0,
            head: slots,
            produced: events,
            calls: events,
            read_slots: slots,
            read: events,
            dropped: Vec::new(),
        };
        let account = Account { is_final: true, calls: Vec::new(), lanes: vec![lane] };
        self.frame(Kind::Ledger, 0, &account.pack(), out);
    }
}
