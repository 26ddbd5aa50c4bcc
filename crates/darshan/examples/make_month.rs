//! Makes the logs of a month of jobs, the same every time, for `docs/notebook/month.ipynb` and its test.
//!
//! Three programs of three users run each day. Storage is slower by day than by night. From the 17th to the 19th a
//! file system is ill; from the 22nd one of the programs writes in small pieces.
//!
//! usage: make_month FOLDER

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use netra_darshan::counter::{bin, posix};
use netra_darshan::read::{Counters, DxtHead, Extra, Job, Mount, Record};
use netra_darshan::record::dxt::Segment;
use netra_darshan::record::header::Compression;
use netra_darshan::record::job::Job as Numbers;
use netra_darshan::write::Writer;
use netra_event::{Module, Rank, RecordId};

/// 2026-10-01, 00:00 UTC.
const BEGIN: i64 = 1_790_812_800;
const DAYS: i64 = 31;
const MIB: i64 = 1 << 20;

/// Who runs what.
struct Program {
    exe: &'static str,
    uid: i64,
    ranks: i64,
    folder: &'static str,
    /// Bytes of a rank, and of one call.
    written: i64,
    write: i64,
    read: i64,
    piece: i64,
    /// Hours at which it starts.
    hours: &'static [i64],
}

const PROGRAMS: [Program; 3] = [
    Program {
        exe: "/apps/ocean/bin/ocean run.nml",
        uid: 1000,
        ranks: 8,
        folder: "/scratch/ocean",
        written: 64 * MIB,
        write: 4 * MIB,
        read: 16 * MIB,
        piece: 4 * MIB,
        hours: &[2, 8, 14, 20],
    },
    Program {
        exe: "/apps/plasma/plasma --steps 400",
        uid: 1001,
        ranks: 4,
        folder: "/scratch/plasma",
        written: 32 * MIB,
        write: 2 * MIB,
        read: 0,
        piece: MIB,
        hours: &[5, 11, 23],
    },
    Program {
        exe: "/apps/genome/search reads.fa",
        uid: 1002,
        ranks: 2,
        folder: "/project/genome",
        written: 2 * MIB,
        write: MIB,
        read: 48 * MIB,
        piece: MIB,
        hours: &[9, 17],
    },
];

fn main() -> netra_darshan::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_default();
    let mut noise = Noise(20_261_001);
    let mut number = 70_000;
    for day in 0..DAYS {
        for program in &PROGRAMS {
            for hour in program.hours {
                number += 1;
                let run = Run { program, number, day, hour: *hour };
                run.write(Path::new(&folder), &mut noise)?;
            }
        }
    }
    Ok(())
}

/// One job.
struct Run<'a> {
    program: &'a Program,
    number: i64,
    /// From 0.
    day: i64,
    hour: i64,
}

/// What one rank did.
struct Calls {
    writes: Vec<Segment>,
    reads: Vec<Segment>,
}

impl Run<'_> {
    /// Bytes that go through in a second.
    fn rate(&self) -> f64 {
        let by_day = if (9..18).contains(&self.hour) { 0.6 } else { 1.0 };
        let ill = (16..19).contains(&self.day) && self.program.folder.starts_with("/scratch");
        400e6 * by_day * if ill { 0.2 } else { 1.0 }
    }

    fn calls(&self, noise: &mut Noise) -> Calls {
        let Program { written, write, read, piece, uid, .. } = *self.program;
        let size = if uid == 1001 && self.day >= 21 { 32 << 10 } else { write };
        let mut at = 1.0 + noise.share();
        let reads = self.segments(&mut at, read, piece, noise);
        at += 20.0;
        let writes = self.segments(&mut at, written, size, noise);
        Calls { writes, reads }
    }

    /// Calls of `size` bytes one after another; each costs a round trip.
    fn segments(&self, at: &mut f64, bytes: i64, size: i64, noise: &mut Noise) -> Vec<Segment> {
        let mut segments = Vec::new();
        for place in 0..bytes / size {
            let start = *at;
            *at += (0.002 + size as f64 / self.rate()) * (0.85 + 0.3 * noise.share());
            segments.push(Segment {
                offset: place * size,
                length: size,
                start,
                end: *at,
                thread: None,
            });
        }
        segments
    }

    fn write(&self, folder: &Path, noise: &mut Noise) -> netra_darshan::Result<()> {
        let program = self.program;
        let ranks: Vec<Calls> = (0..program.ranks).map(|_| self.calls(noise)).collect();
        let names: Vec<String> =
            (0..program.ranks).map(|rank| format!("{}/out.{rank:03}", program.folder)).collect();
        let pairs = names.iter().map(|name| (RecordId::of(name.as_bytes()), name.as_bytes()));
        let path = folder.join(format!("job-{}.darshan", self.number));
        let out = BufWriter::new(File::create(path)?);
        let mut log = Writer::new(out, Compression::Zlib, &self.job(&ranks), pairs.clone())?;
        for ((rank, calls), (id, _)) in (0..).zip(&ranks).zip(pairs.clone()) {
            counters(&mut log, id, Rank(rank), calls)?;
        }
        for ((rank, calls), (id, _)) in (0..).zip(&ranks).zip(pairs) {
            let (writes, reads) = (calls.writes.len() as u64, calls.reads.len() as u64);
            let host = format!("node{:02}", rank / 4 + 1).into_bytes();
            let head = DxtHead { id, rank: Rank(rank), host, writes, reads };
            log.begin_trace(Module::DxtPosix, &head)?;
            log.segments(&calls.writes)?;
            log.segments(&calls.reads)?;
            log.end_trace()?;
        }
        log.finish()?;
        Ok(())
    }

    fn job(&self, ranks: &[Calls]) -> Job {
        let last = ranks.iter().flat_map(|calls| calls.writes.last()).map(|call| call.end);
        let start_sec = BEGIN + self.day * 86_400 + self.hour * 3600;
        let numbers = Numbers {
            uid: self.program.uid,
            start_sec,
            end_sec: start_sec + last.fold(0.0, f64::max).ceil() as i64 + 1,
            nprocs: self.program.ranks,
            jobid: self.number,
            ..Numbers::default()
        };
        let mount = |point: &str, kind: &str| Mount { point: point.into(), kind: kind.into() };
        Job {
            numbers,
            metadata: b"lib_ver=3.5.0\n".to_vec(),
            exe: self.program.exe.into(),
            mounts: vec![mount("/scratch", "lustre"), mount("/project", "gpfs")],
        }
    }
}

/// The counters that a recorder would have of the same calls.
fn counters(
    log: &mut Writer<BufWriter<File>>,
    id: RecordId,
    rank: Rank,
    calls: &Calls,
) -> netra_darshan::Result<()> {
    let (mut ints, mut floats) = (vec![0; posix::INT.len()], vec![0.0; posix::FLOAT.len()]);
    let took = |all: &[Segment]| all.iter().map(|one| one.end - one.start).sum::<f64>();
    let edge = |one: Option<&Segment>, end: bool| {
        one.map_or(0.0, |one| if end { one.end } else { one.start })
    };
    ints[posix::OPENS] = 1;
    floats[posix::F_META_TIME] = 0.001;
    for (all, count, bytes, bins, time, start, end) in [
        (
            &calls.reads,
            posix::READS,
            posix::BYTES_READ,
            posix::SIZE_READ_0_100,
            posix::F_READ_TIME,
            posix::F_READ_START_TIMESTAMP,
            posix::F_READ_END_TIMESTAMP,
        ),
        (
            &calls.writes,
            posix::WRITES,
            posix::BYTES_WRITTEN,
            posix::SIZE_WRITE_0_100,
            posix::F_WRITE_TIME,
            posix::F_WRITE_START_TIMESTAMP,
            posix::F_WRITE_END_TIMESTAMP,
        ),
    ] {
        ints[count] = all.len() as i64;
        ints[bytes] = all.iter().map(|one| one.length).sum();
        for one in all {
            ints[bins + bin::of(one.length.cast_unsigned())] += 1;
        }
        floats[time] = took(all);
        floats[start] = edge(all.first(), false);
        floats[end] = edge(all.last(), true);
    }
    let record = Counters { id, rank, ints: &ints, floats: &floats, extra: Extra::None };
    log.record(Module::Posix, Record::Counters(record))
}

/// Numbers without a pattern, the same every time (xorshift).
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
