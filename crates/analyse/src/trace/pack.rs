//! Calls as differences from the call before, in bytes of seven bits (LEB128): how much later it
//! began, how long it took, how far behind the last byte, and how much longer.

use super::{Run, TraceRow, seconds};

/// Packed runs, one behind another.
pub(super) type Block = Vec<u8>;

/// What the next call is compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Writer {
    pub(super) start: i64,
    stop: u64,
    length: u64,
}

impl Writer {
    pub(super) fn put(&mut self, out: &mut Block, start: i64, took: i64, offset: u64, length: u64) {
        number(out, zigzag(start.wrapping_sub(self.start)));
        number(out, took.cast_unsigned());
        number(out, zigzag(offset.wrapping_sub(self.stop).cast_signed()));
        number(out, zigzag(length.wrapping_sub(self.length).cast_signed()));
        *self = Writer { start, stop: offset.wrapping_add(length), length };
    }
}

/// The calls of a run, from the first on.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    bytes: &'a [u8],
    left: u32,
    run: Run,
    before: Writer,
}

impl<'a> Rows<'a> {
    pub(super) fn new(bytes: &'a [u8], run: Run) -> Rows<'a> {
        Rows { bytes, left: run.calls, run, before: Writer::default() }
    }
}

impl Iterator for Rows<'_> {
    type Item = TraceRow;

    #[inline]
    fn next(&mut self) -> Option<TraceRow> {
        self.left = self.left.checked_sub(1)?;
        let start = self.before.start.wrapping_add(unzigzag(take(&mut self.bytes)));
        let took = take(&mut self.bytes).cast_signed();
        let offset = self.before.stop.wrapping_add(unzigzag(take(&mut self.bytes)).cast_unsigned());
        let length =
            self.before.length.wrapping_add(unzigzag(take(&mut self.bytes)).cast_unsigned());
        self.before = Writer { start, stop: offset.wrapping_add(length), length };
        Some(TraceRow {
            file: self.run.file,
            rank: self.run.rank,
            layer: self.run.layer,
            direction: self.run.direction,
            start: seconds(start),
            end: seconds(start.saturating_add(took)),
            offset,
            length,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

/// Small numbers of either sign become small numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn number(out: &mut Block, mut value: u64) {
    while value >= 0x80 {
        // The low seven bits; the mask keeps the cast exact.
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn take(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift = (shift + 7) & 63;
    }
    value
}
