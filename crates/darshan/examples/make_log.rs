//! Makes a large log for measurements, from the layouts of this crate.
//!
//! usage: make_log segments COUNT LOG     a trace with so many segments, as a program would leave it
//!        make_log gibibyte BYTES LOG     counters and a trace of about so many bytes in the file
//!
//! Traces have version 1, the newest that every reader understands.

use std::fs::File;
use std::io::{self, BufWriter, Error, Seek, SeekFrom, Write};

use flate2::Compression as Level;
use flate2::write::ZlibEncoder;
use netra_darshan::record::header::{Compression, Extent, Header, SIZE};
use netra_darshan::record::job::{Job, METADATA};
use netra_darshan::record::{self, dxt};
use netra_event::{Module, Rank, RecordId};

/// Files that the records are about.
const FILES: u64 = 200;
/// Segments of a process and file.
const PIECE: u64 = 10_000;

type Region = ZlibEncoder<BufWriter<File>>;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, size, path] = words.as_slice() else {
        return Err(Error::other("usage: make_log segments|gibibyte SIZE LOG"));
    };
    let size: u64 = size.parse().map_err(Error::other)?;
    let mut log = Log::create(path)?;
    match kind.as_str() {
        "segments" => log.region(Module::DxtPosix, 1, |out| regular(out, size))?,
        "gibibyte" => {
            // Noise does not compress: what goes in comes out.
            log.region(Module::Posix, 4, |out| noisy_counters(out, size * 2 / 5))?;
            log.region(Module::DxtPosix, 1, |out| noisy_segments(out, size * 7 / 10))?;
        }
        _ => return Err(Error::other("the first word is `segments` or `gibibyte`")),
    }
    log.finish()
}

/// A log that is being written.
struct Log {
    out: Option<BufWriter<File>>,
    header: Header,
}

impl Log {
    fn create(path: &str) -> io::Result<Log> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        out.write_all(&[0; SIZE])?;
        let mut log = Log { out: Some(out), header: Header::new(Compression::Zlib) };
        log.write(job)?;
        log.header.names = log.write(names)?;
        Ok(log)
    }

    fn write(&mut self, fill: impl FnOnce(&mut Region) -> io::Result<()>) -> io::Result<Extent> {
        let mut out = self.out.take().ok_or_else(|| Error::other("the output is gone"))?;
        let offset = out.stream_position()?;
        let mut region = ZlibEncoder::new(out, Level::fast());
        fill(&mut region)?;
        let mut out = region.finish()?;
        let length = out.stream_position()? - offset;
        self.out = Some(out);
        Ok(Extent { offset, length })
    }

    fn region(
        &mut self,
        module: Module,
        version: u32,
        fill: impl FnOnce(&mut Region) -> io::Result<()>,
    ) -> io::Result<()> {
        let slot = usize::from(module.code());
        self.header.modules[slot] = self.write(fill)?;
        self.header.versions[slot] = version;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        let mut out = self.out.take().ok_or_else(|| Error::other("the output is gone"))?;
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&self.header.encode())?;
        out.flush()
    }
}

fn job(out: &mut Region) -> io::Result<()> {
    let job = Job {
        uid: 1000,
        start_sec: 1_700_000_000,
        end_sec: 1_700_003_600,
        nprocs: 1024,
        jobid: 1,
        ..Job::default()
    };
    out.write_all(&job.encode())?;
    let mut metadata = [0; METADATA];
    metadata[..14].copy_from_slice(b"lib_ver=3.5.0\n");
    out.write_all(&metadata)?;
    out.write_all(b"./measured\next4\t/\nlustre\t/scratch\0")
}

fn name(file: u64) -> String {
    format!("/scratch/run/output.{file:05}")
}

fn id(file: u64) -> RecordId {
    RecordId::of(name(file).as_bytes())
}

fn names(out: &mut Region) -> io::Result<()> {
    for file in 0..FILES {
        out.write_all(&id(file).0.to_le_bytes())?;
        out.write_all(name(file).as_bytes())?;
        out.write_all(&[0])?;
    }
    Ok(())
}

/// Each process writes a file in pieces of 1 MiB, then reads it back.
fn regular(out: &mut Region, count: u64) -> io::Result<()> {
    for record in 0..count.div_ceil(PIECE) {
        let segments = PIECE.min(count - record * PIECE);
        let (writes, reads) = (segments - segments / 2, segments / 2);
        let rank = Rank(record.cast_signed());
        out.write_all(&dxt::head(id(record % FILES), rank, b"node1", writes, reads))?;
        for place in (0..writes).chain(0..reads) {
            let start = place as f64 * 0.35 + (record % 7) as f64 * 0.001;
            segment(out, place << 20, 1 << 20, start, start + 0.0123)?;
        }
    }
    Ok(())
}

fn segment(out: &mut Region, offset: u64, length: u64, start: f64, end: f64) -> io::Result<()> {
    for word in [offset, length, start.to_bits(), end.to_bits()] {
        out.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

fn noisy_segments(out: &mut Region, bytes: u64) -> io::Result<()> {
    let mut noise = Noise(1);
    let count = bytes / dxt::OLD_SEGMENT as u64;
    for record in 0..count.div_ceil(PIECE) {
        let rank = Rank((record % 1024).cast_signed());
        out.write_all(&dxt::head(id(record % FILES), rank, b"node1", PIECE, 0))?;
        for _ in 0..PIECE {
            let (offset, length) = (noise.next() >> 16, noise.next() >> 40);
            let start = (noise.next() >> 20) as f64 * 1e-9;
            segment(out, offset, length, start, start + (noise.next() >> 40) as f64 * 1e-9)?;
        }
    }
    Ok(())
}

fn noisy_counters(out: &mut Region, bytes: u64) -> io::Result<()> {
    let layout = record::layout(Module::Posix, 4).ok_or_else(|| Error::other("no layout"))?;
    let mut noise = Noise(2);
    for place in 0..bytes / layout.size() as u64 {
        out.write_all(&id(place % FILES).0.to_le_bytes())?;
        out.write_all(&(place % 1024).to_le_bytes())?;
        for _ in 0..layout.ints {
            out.write_all(&(noise.next() >> 8).to_le_bytes())?;
        }
        for _ in 0..layout.floats {
            out.write_all(&((noise.next() >> 20) as f64 * 1e-9).to_le_bytes())?;
        }
    }
    Ok(())
}

/// Numbers without a pattern, the same every time (xorshift).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
