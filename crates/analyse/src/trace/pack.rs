//! Calls as differences from the call before, in bytes of seven bits (LEB128): how much later it
//! began, how long it took, how far behind the last byte, and how much longer. The lowest bit of
//! how long it took says that it was made from another place; then that follows.

use super::{Run, TraceRow, seconds};

/// Packed runs, one behind another.
pub(super) type Block = Vec<u8>;

/// What the next call is compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Writer {
    start: i64,
    stop: u64,
    length: u64,
    /// One more than the place; 0 where it is not known.
    place: u64,
}

impl Writer {
    pub(super) fn put(
        &mut self,
        out: &mut Block,
        start: i64,
        took: i64,
        (offset, length): (u64, u64),
        place: Option<u32>,
    ) {
        let place = place.map_or(0, |place| u64::from(place) + 1);
        let moved = place != self.place;
        number(out, zigzag(start.wrapping_sub(self.start)));
        // It is not negative, so that a bit is free.
        number(out, took.cast_unsigned() << 1 | u64::from(moved));
        if moved {
            number(out, place);
        }
        number(out, zigzag(offset.wrapping_sub(self.stop).cast_signed()));
        number(out, zigzag(length.wrapping_sub(self.length).cast_signed()));
        *self = Writer { start, stop: offset.wrapping_add(length), length, place };
    }
}

/// The calls of a run, from the first on.
#[derive(Debug, Clone)]
pub(super) struct Unpack<'a> {
    bytes: &'a [u8],
    left: u32,
    run: Run,
    before: Writer,
}

impl<'a> Unpack<'a> {
    pub(super) fn new(bytes: &'a [u8], run: Run) -> Unpack<'a> {
        Unpack { bytes, left: run.calls, run, before: Writer::default() }
    }

    /// Calls that are left.
    pub(super) fn left(&self) -> usize {
        self.left as usize
    }

    /// The place of the call that was given last.
    pub(super) fn place(&self) -> Option<u32> {
        // What was put in fits.
        Some(self.before.place.checked_sub(1)? as u32)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<TraceRow> {
        self.left = self.left.checked_sub(1)?;
        let start = self.before.start.wrapping_add(unzigzag(take(&mut self.bytes)));
        let took = take(&mut self.bytes);
        let place = if took & 1 == 0 { self.before.place } else { take(&mut self.bytes) };
        let took = (took >> 1).cast_signed();
        let offset = self.before.stop.wrapping_add(unzigzag(take(&mut self.bytes)).cast_unsigned());
        let length =
            self.before.length.wrapping_add(unzigzag(take(&mut self.bytes)).cast_unsigned());
        self.before = Writer { start, stop: offset.wrapping_add(length), length, place };
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

/// The next number. Most end within eight bytes and are put together without a loop: calls are read many times.
#[inline]
fn take(bytes: &mut &[u8]) -> u64 {
    let Some(eight) = bytes.first_chunk::<8>() else { return take_slowly(bytes) };
    let word = u64::from_le_bytes(*eight);
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return take_slowly(bytes);
    }
    let last = ends.trailing_zeros();
    *bytes = &bytes[last as usize / 8 + 1..];
    // Seven bits of each byte up to the last, moved together by pairs, fours and eights.
    let word = word & (u64::MAX >> (63 - last)) & 0x7f7f_7f7f_7f7f_7f7f;
    let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
    word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// The same byte by byte, for what is longer or stands at the end.
#[cold]
fn take_slowly(bytes: &mut &[u8]) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::{number, take, take_slowly};
    use proptest::prelude::*;

    proptest! {
        /// Numbers of every length, with others behind them and at the end.
        #[test]
        fn a_number_is_read_as_it_was_written(
            numbers in prop::collection::vec((any::<u64>(), 0u32..64), 1..20)
        ) {
            let numbers: Vec<u64> = numbers.into_iter().map(|(value, cut)| value >> cut).collect();
            let mut bytes = Vec::new();
            numbers.iter().for_each(|value| number(&mut bytes, *value));
            let (mut fast, mut slow) = (bytes.as_slice(), bytes.as_slice());
            for value in numbers {
                prop_assert_eq!(take(&mut fast), value);
                prop_assert_eq!(take_slowly(&mut slow), value);
                prop_assert_eq!(fast, slow);
            }
            prop_assert!(fast.is_empty());
        }
    }
}
