//! Decompresses zlib streams (RFC 1950 and, within, RFC 1951), a piece of input at a time.
//!
//! A log is a row of very many small streams: a process of a job leaves one in each region. So a stream costs little besides
//! its bytes. There is no window that each piece of output would have to be copied into: what came before is looked up where
//! the caller has it. Codes that a block does not bring along have their tables ready.
//!
//! It takes and gives the same bytes with each step as zlib does, damaged streams included: a test compares the two.

mod bits;
mod copy;
mod symbol;
mod table;
#[cfg(test)]
mod tests;

use bits::Bits;
use simd_adler32::Adler32;
use symbol::{Output, Symbol};
use table::{Codes, FIXED, Tables};

/// A stream that no compressor made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Corrupt;

/// How far back a stream may look.
pub(super) const WINDOW: usize = 32 << 10;

/// What was done with a piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) taken: usize,
    pub(super) made: usize,
    /// Whether that was the end of a stream. The next step begins another.
    pub(super) ended: bool,
}

/// Decompresses one stream after another.
pub(super) struct Inflate {
    stage: Stage,
    /// What is left of earlier input.
    bits: Bits,
    /// Whether the block is the last of its stream.
    last: bool,
    /// Whether the block has the codes that need not be told.
    fixed: bool,
    tables: Tables,
    codes: Codes,
    lengths: Lengths,
    sum: Adler32,
    /// Bytes of the stream that earlier steps made.
    made: u64,
}

/// What comes next.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Head,
    Dictionary,
    Block,
    /// The length of bytes that stand as they are.
    Stored,
    /// So many of these bytes.
    Plain(usize),
    /// How many codes a block brings along.
    Counts,
    /// The lengths of the codes of code lengths.
    Short,
    /// The lengths of codes.
    Lengths,
    Symbol,
    /// A byte for which there was no room yet.
    Literal(u8),
    Match {
        length: usize,
        distance: usize,
    },
    Sum,
}

/// The lengths of a block's codes while they are read.
struct Lengths {
    all: [u8; 320],
    have: usize,
    long: usize,
    far: usize,
    short: usize,
}

/// Why a step ends.
enum Pause {
    Input,
    Output,
    End,
}

/// What a step works on.
struct Work<'a> {
    input: &'a [u8],
    bits: Bits,
    output: Output<'a>,
}

/// In which order the lengths of the codes of code lengths stand.
const SHORT: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

impl Inflate {
    pub(super) fn new() -> Inflate {
        Inflate {
            stage: Stage::Head,
            bits: Bits::default(),
            last: false,
            fixed: false,
            tables: Tables::new(),
            codes: Codes::new(),
            lengths: Lengths { all: [0; 320], have: 0, long: 0, far: 0, short: 0 },
            sum: Adler32::new(),
            made: 0,
        }
    }

    /// How many of the bytes made last may still be looked up.
    pub(super) fn looks_back(&self) -> usize {
        usize::try_from(self.made).unwrap_or(WINDOW).min(WINDOW)
    }

    /// Decompresses into `output` from `at` on, until input, room or stream end. What stands before are the bytes made so far, as
    /// many as can be [looked up](Inflate::looks_back). Bytes behind what was made may be written to as well.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        at: usize,
    ) -> Result<Step, Corrupt> {
        let origin = at.saturating_sub(usize::try_from(self.made).unwrap_or(usize::MAX));
        let output = Output { bytes: output, at, origin };
        let mut work = Work { input, bits: self.bits.again(), output };
        let pause = self.run(&mut work, at)?;
        // Where input ended inside a symbol, all of it was needed.
        if !matches!(pause, Pause::Input) {
            work.bits.give_back();
        }
        let Work { bits, output, .. } = work;
        let made = output.at - at;
        let ended = matches!(pause, Pause::End);
        if ended {
            (self.stage, self.made) = (Stage::Head, 0);
            self.sum.reset();
        } else {
            self.sum.write(&output.bytes[at..output.at]);
            self.made += made as u64;
        }
        self.bits = bits;
        Ok(Step { taken: bits.taken(), made, ended })
    }

    fn run(&mut self, work: &mut Work<'_>, begun: usize) -> Result<Pause, Corrupt> {
        loop {
            let pause = match self.stage {
                Stage::Head => self.head(work)?,
                // Nobody has a dictionary, but it is read until there is one.
                Stage::Dictionary if work.bits.need(work.input, 32) => return Err(Corrupt),
                Stage::Dictionary => Some(Pause::Input),
                Stage::Block => self.block(work)?,
                Stage::Stored => self.stored(work)?,
                Stage::Plain(left) => self.plain(work, left),
                Stage::Counts => self.counts(work)?,
                Stage::Short => self.short(work)?,
                Stage::Lengths => self.lengths(work)?,
                Stage::Symbol => self.symbols(work)?,
                Stage::Literal(byte) => self.literal(work, byte),
                Stage::Match { length, distance } => self.copy(work, length, distance)?,
                Stage::Sum => Some(self.check(work, begun)?),
            };
            if let Some(pause) = pause {
                return Ok(pause);
            }
        }
    }

    fn head(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        if !work.bits.need(work.input, 16) {
            return Ok(Some(Pause::Input));
        }
        let (method, flags) = (work.bits.take(8), work.bits.take(8));
        // Deflate with a window of at most 32 KiB, and a number that makes both a multiple of 31.
        if (method << 8 | flags) % 31 != 0 || method & 15 != 8 || method >> 4 > 7 {
            return Err(Corrupt);
        }
        self.stage = if flags & 32 != 0 { Stage::Dictionary } else { Stage::Block };
        self.last = false;
        Ok(None)
    }

    fn block(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        if self.last {
            work.bits.align();
            self.stage = Stage::Sum;
            return Ok(None);
        }
        if !work.bits.need(work.input, 3) {
            return Ok(Some(Pause::Input));
        }
        self.last = work.bits.take(1) == 1;
        self.stage = match work.bits.take(2) {
            0 => {
                work.bits.align();
                Stage::Stored
            }
            1 => {
                self.fixed = true;
                Stage::Symbol
            }
            2 => Stage::Counts,
            _ => return Err(Corrupt),
        };
        Ok(None)
    }

    fn stored(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        if !work.bits.need(work.input, 32) {
            return Ok(Some(Pause::Input));
        }
        let (length, again) = (work.bits.take(16), work.bits.take(16));
        if length != again ^ 0xffff {
            return Err(Corrupt);
        }
        // From here on bytes are copied; none of them may be held as bits.
        work.bits.give_back();
        self.stage = Stage::Plain(length as usize);
        Ok(None)
    }

    fn plain(&mut self, work: &mut Work<'_>, left: usize) -> Option<Pause> {
        if left == 0 {
            self.stage = Stage::Block;
            return None;
        }
        let Output { bytes, at, .. } = &mut work.output;
        let (input, room) = (&work.input[work.bits.taken()..], &mut bytes[*at..]);
        let count = left.min(input.len()).min(room.len());
        room[..count].copy_from_slice(&input[..count]);
        work.bits.pass(count);
        *at += count;
        self.stage = Stage::Plain(left - count);
        (count == 0).then_some(Pause::Output)
    }

    fn counts(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        if !work.bits.need(work.input, 14) {
            return Ok(Some(Pause::Input));
        }
        let lengths = &mut self.lengths;
        lengths.long = work.bits.take(5) as usize + 257;
        lengths.far = work.bits.take(5) as usize + 1;
        lengths.short = work.bits.take(4) as usize + 4;
        lengths.have = 0;
        if lengths.long > 286 || lengths.far > 30 {
            return Err(Corrupt);
        }
        self.stage = Stage::Short;
        Ok(None)
    }

    fn short(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        let Lengths { all, have, short, .. } = &mut self.lengths;
        while *have < *short {
            if !work.bits.need(work.input, 3) {
                return Ok(Some(Pause::Input));
            }
            all[usize::from(SHORT[*have])] = work.bits.take(3) as u8;
            *have += 1;
        }
        for &symbol in &SHORT[*short..] {
            all[usize::from(symbol)] = 0;
        }
        let first = all.first_chunk().ok_or(Corrupt)?;
        self.codes.set(first)?;
        *have = 0;
        self.stage = Stage::Lengths;
        Ok(None)
    }

    fn lengths(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        let Lengths { all, have, long, far, .. } = &mut self.lengths;
        let all = &mut all[..*long + *far];
        while let Some(next) = all.get_mut(*have) {
            // A code and what may follow it; less will do at the end.
            work.bits.need(work.input, 14);
            let (symbol, bits) = self.codes.get(work.bits.peek());
            let (least, extra) = match symbol {
                0..16 => (1, 0),
                16 => (3, 2),
                17 => (3, 3),
                _ => (11, 7),
            };
            if bits + extra > work.bits.count() {
                return Ok(Some(Pause::Input));
            }
            work.bits.drop(bits);
            if symbol < 16 {
                *next = symbol;
                *have += 1;
                continue;
            }
            let before = have.checked_sub(1).map(|before| all[before]);
            let value = if symbol == 16 { before.ok_or(Corrupt)? } else { 0 };
            let count = least + work.bits.take(extra) as usize;
            all.get_mut(*have..*have + count).ok_or(Corrupt)?.fill(value);
            *have += count;
        }
        let (long, far) = all.split_at(*long);
        // A block without an end would never end.
        if long[256] == 0 {
            return Err(Corrupt);
        }
        self.tables.set(long, far)?;
        self.fixed = false;
        self.stage = Stage::Symbol;
        Ok(None)
    }

    fn symbols(&mut self, work: &mut Work<'_>) -> Result<Option<Pause>, Corrupt> {
        let tables = if self.fixed { &*FIXED } else { &self.tables };
        if symbol::quickly(tables, work.input, &mut work.bits, &mut work.output)? {
            self.stage = Stage::Block;
            return Ok(None);
        }
        let Some(symbol) = symbol::carefully(tables, work.input, &mut work.bits)? else {
            return Ok(Some(Pause::Input));
        };
        self.stage = match symbol {
            Symbol::Literal(byte) => Stage::Literal(byte),
            Symbol::Match { length, distance } => Stage::Match { length, distance },
            Symbol::End => Stage::Block,
        };
        Ok(None)
    }

    fn literal(&mut self, work: &mut Work<'_>, byte: u8) -> Option<Pause> {
        let Output { bytes, at, .. } = &mut work.output;
        let Some(place) = bytes.get_mut(*at) else { return Some(Pause::Output) };
        *place = byte;
        *at += 1;
        self.stage = Stage::Symbol;
        None
    }

    fn copy(
        &mut self,
        work: &mut Work<'_>,
        length: usize,
        distance: usize,
    ) -> Result<Option<Pause>, Corrupt> {
        let Output { bytes, at, origin } = &mut work.output;
        let count = length.min(bytes.len() - *at);
        if count == 0 {
            return Ok(Some(Pause::Output));
        }
        if distance > *at - *origin {
            return Err(Corrupt);
        }
        copy::exactly(bytes, *at, distance, count);
        *at += count;
        let length = length - count;
        self.stage = if length == 0 { Stage::Symbol } else { Stage::Match { length, distance } };
        Ok(None)
    }

    /// The end of a stream: a sum over all of its bytes.
    fn check(&mut self, work: &mut Work<'_>, begun: usize) -> Result<Pause, Corrupt> {
        if !work.bits.need(work.input, 32) {
            return Ok(Pause::Input);
        }
        self.sum.write(&work.output.bytes[begun..work.output.at]);
        let said = (work.bits.take(32) as u32).swap_bytes();
        if said == self.sum.finish() { Ok(Pause::End) } else { Err(Corrupt) }
    }
}
