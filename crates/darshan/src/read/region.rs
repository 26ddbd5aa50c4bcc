//! The decompressed bytes of a region, a buffer at a time.
//!
//! A region is a row of complete compressed streams: each process of a job appended its own. A
//! region never takes more memory than its buffers, whatever the file claims.

use super::inflate::Inflate;
use super::source::{Source, fill};
use crate::damage::Reason;
use crate::record::header::{Compression, Extent};
use bzip2::Decompress as Bunzip;
use std::sync::Arc;

/// Compressed bytes read at once.
const INPUT: usize = 64 << 10;
/// Decompressed bytes kept at once, unless a caller wants more of them in a row.
const OUTPUT: usize = 256 << 10;
/// The same to begin with: most regions, and most streams in them, are small, and memory that is not touched costs
/// nothing. A stream that fills it gets twice as much.
const FIRST: usize = 16 << 10;

/// The most that a region may decompress to: `floor`, or `ratio` times its compressed length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) floor: u64,
    pub(crate) ratio: u64,
}

impl Limit {
    /// Records that are looked at one by one. Idle heat maps are what compresses best, about 100:1;
    /// no memory is at stake, only time.
    pub(crate) const STREAM: Limit = Limit { floor: 256 << 20, ratio: 500 };
    /// What is kept in memory: names, the job.
    pub(crate) const KEPT: Limit = Limit { floor: 16 << 20, ratio: 100 };

    fn of(self, compressed: u64) -> u64 {
        self.floor.max(self.ratio.saturating_mul(compressed))
    }
}

pub(crate) struct Region {
    source: Arc<dyn Source>,
    /// The next byte of the file to read, and how many follow in this region.
    at: u64,
    left: u64,
    input: Box<[u8]>,
    input_start: usize,
    input_end: usize,
    decoder: Decoder,
    /// Bytes that may still be looked back at, those from `start` to `end` that nobody has consumed, and room.
    output: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `start` was when something was decoded last, and how many bytes may stand behind it.
    before: usize,
    room: usize,
    produced: u64,
    limit: u64,
    stopped: Option<Stop>,
}

/// Why no more bytes come. At the end of a whole region there is nothing wrong.
#[derive(Debug, Clone)]
struct Stop {
    at: u64,
    reason: Option<Reason>,
}

enum Decoder {
    Zlib { inflate: Box<Inflate>, inside: bool },
    Bzip2 { bunzip: Box<Bunzip>, inside: bool },
    None,
}

/// What a decoder did with a piece of input.
struct Step {
    taken: usize,
    made: usize,
}

impl Region {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        extent: Extent,
        compression: Compression,
        limit: Limit,
    ) -> Region {
        let decoder = match compression {
            Compression::Zlib => Decoder::Zlib { inflate: Box::new(Inflate::new()), inside: false },
            Compression::Bzip2 => {
                Decoder::Bzip2 { bunzip: Box::new(Bunzip::new(false)), inside: false }
            }
            Compression::None => Decoder::None,
        };
        // A small region gets small buffers: logs with many modules are many small regions.
        let input = usize::try_from(extent.length).unwrap_or(INPUT).min(INPUT);
        Region {
            source,
            at: extent.offset,
            left: extent.length,
            input: vec![0; input].into_boxed_slice(),
            input_start: 0,
            input_end: 0,
            decoder,
            output: Vec::new(),
            start: 0,
            end: 0,
            before: 0,
            room: 0,
            produced: 0,
            limit: limit.of(extent.length),
            stopped: None,
        }
    }

    /// The next `count` bytes in a row, which stay until they are [consumed](Region::consume);
    /// nothing if the region ends before them.
    pub(crate) fn want(&mut self, count: usize) -> Option<&[u8]> {
        while self.end - self.start < count {
            if !self.more(count) {
                return None;
            }
        }
        Some(&self.output[self.start..self.start + count])
    }

    /// All bytes that are there without further reading, at least one unless the region has ended.
    pub(crate) fn available(&mut self) -> &[u8] {
        while self.start == self.end && self.more(1) {}
        &self.output[self.start..self.end]
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Bytes that are left over when nothing more can be read.
    pub(crate) fn rest(&self) -> usize {
        self.end - self.start
    }

    /// The place in the file that has been decoded.
    pub(crate) fn place(&self) -> u64 {
        self.at - (self.input_end - self.input_start) as u64
    }

    /// What is wrong with the region, once it has ended.
    pub(crate) fn fault(&self) -> Option<(u64, Reason)> {
        let stop = self.stopped.as_ref()?;
        stop.reason.clone().map(|reason| (stop.at, reason))
    }

    /// Makes room for `count` bytes in a row and decodes some more. False at the end.
    fn more(&mut self, count: usize) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        let filled = self.end - self.before;
        let room = if filled < self.room { FIRST } else { 2 * filled };
        self.room = room.clamp(FIRST, OUTPUT).max(count).max(self.room);
        self.make_room();
        self.before = self.start;
        match self.decode() {
            Ok(()) => true,
            Err(reason) => {
                self.stopped = Some(Stop { at: self.place(), reason });
                false
            }
        }
    }

    /// Sees to it that `room` bytes can stand from `start` on. What need not be looked back at any more goes.
    fn make_room(&mut self) {
        let back = self.decoder.looks_back();
        if back > 0 && self.start + self.room <= self.output.len() {
            return;
        }
        let from = self.start.min(self.end - back);
        if from > 0 {
            self.output.copy_within(from..self.end, 0);
            self.start -= from;
            self.end -= from;
        }
        if self.output.len() < self.start + self.room {
            self.output.resize(self.start + self.room, 0);
        }
    }

    /// Decodes until at least one byte came out.
    fn decode(&mut self) -> Result<(), Option<Reason>> {
        loop {
            // Without further input a decoder may still hold back output from before.
            let end = if self.input_start == self.input_end { self.refill().err() } else { None };
            if let Some(reason) = &end
                && !self.decoder.is_inside()
            {
                return Err(reason.clone());
            }
            let input = &self.input[self.input_start..self.input_end];
            let output = &mut self.output[..self.start + self.room];
            let step = self.decoder.step(input, output, self.end)?;
            self.input_start += step.taken;
            self.end += step.made;
            self.produced += step.made as u64;
            if self.produced > self.limit {
                return Err(Some(Reason::Bomb { produced: self.limit }));
            }
            if step.made > 0 {
                return Ok(());
            }
            if step.taken == 0 && self.decoder.is_inside() {
                return Err(end.unwrap_or(Some(Reason::Corrupt)));
            }
        }
    }

    fn refill(&mut self) -> Result<(), Option<Reason>> {
        if self.left == 0 {
            // Whole streams only: the end of the region inside one means that something is gone.
            return Err(self.decoder.is_inside().then_some(Reason::StreamCut));
        }
        let count = usize::try_from(self.left).unwrap_or(INPUT).min(self.input.len());
        let have = fill(&*self.source, self.at, &mut self.input[..count])
            .map_err(|error| Some(Reason::Io(error.kind())))?;
        if have == 0 {
            return Err(Some(Reason::FileCut { missing: self.left }));
        }
        self.input_start = 0;
        self.input_end = have;
        self.at += have as u64;
        self.left -= have as u64;
        Ok(())
    }
}

impl Decoder {
    fn is_inside(&self) -> bool {
        match self {
            Decoder::Zlib { inside, .. } | Decoder::Bzip2 { inside, .. } => *inside,
            Decoder::None => false,
        }
    }

    /// How many of the bytes made last it may still need.
    fn looks_back(&self) -> usize {
        match self {
            Decoder::Zlib { inflate, .. } => inflate.looks_back(),
            Decoder::Bzip2 { .. } | Decoder::None => 0,
        }
    }

    /// Decodes some input into `output`, from `at` on.
    fn step(&mut self, input: &[u8], output: &mut [u8], at: usize) -> Result<Step, Option<Reason>> {
        let corrupt = Some(Reason::Corrupt);
        match self {
            Decoder::Zlib { inflate, inside } => {
                let step = inflate.step(input, output, at).map_err(|_| corrupt)?;
                *inside = !step.ended;
                Ok(Step { taken: step.taken, made: step.made })
            }
            Decoder::Bzip2 { bunzip, inside } => {
                let before = (bunzip.total_in(), bunzip.total_out());
                let status =
                    bunzip.decompress(input, &mut output[at..]).map_err(|_| corrupt.clone())?;
                let step = Step {
                    taken: size(bunzip.total_in() - before.0),
                    made: size(bunzip.total_out() - before.1),
                };
                *inside = status != bzip2::Status::StreamEnd;
                if !*inside {
                    **bunzip = Bunzip::new(false);
                }
                Ok(step)
            }
            Decoder::None => {
                let room = &mut output[at..];
                let count = input.len().min(room.len());
                room[..count].copy_from_slice(&input[..count]);
                Ok(Step { taken: count, made: count })
            }
        }
    }
}

/// A step is never longer than the buffers it works on.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
