//! Decodes the symbols of a block: quickly where there is plenty of input and room, carefully where either ends.

use super::bits::Bits;
use super::table::{Entry, FAR_ROOT, LONG_ROOT, Tables};
use super::{Corrupt, copy};

/// Literals in a turn of the quick loop. Their codes have at most [`LONG_ROOT`] bits each, longer ones come through another table; with one
/// less there are still enough bits for a look at what follows them.
const LITERALS: usize = 5;
const _: () = assert!(LITERALS as u32 * LONG_ROOT <= 56);
/// Room for what a turn of the quick loop writes: literals, the longest match, and what is copied too much.
const ROOM: usize = LITERALS + 258 + copy::MOST;

/// What one symbol is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol {
    Literal(u8),
    Match { length: usize, distance: usize },
    End,
}

/// Output, and how far it is filled.
pub(super) struct Output<'a> {
    pub(super) bytes: &'a mut [u8],
    pub(super) at: usize,
    /// The first byte that may be looked back at.
    pub(super) origin: usize,
}

/// Decodes while at least [`ROOM`] bytes can be written and eight can be read. Whether the block has ended.
pub(super) fn quickly(
    tables: &Tables,
    input: &[u8],
    all_bits: &mut Bits,
    output: &mut Output<'_>,
) -> Result<bool, Corrupt> {
    let origin = output.origin;
    let bytes = &mut *output.bytes;
    // Copies, which stand in registers.
    let (mut bits, mut at) = (*all_bits, output.at);
    let ended = loop {
        let Some(room) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<ROOM>) else {
            break false;
        };
        if !bits.fill_quickly(input) {
            break false;
        }
        let mut entry = tables.long.get(bits.peek());
        if entry.is_literal() {
            let mut count = 0;
            for place in &mut room[..LITERALS] {
                *place = entry.byte();
                bits.drop(entry.bits());
                count += 1;
                entry = tables.long.get(bits.peek());
                if !entry.is_literal() {
                    break;
                }
            }
            at += count;
            // So much is used that the last look may have been at bits which are not there.
            if count == LITERALS {
                continue;
            }
            if !bits.fill_quickly(input) {
                break false;
            }
        }
        if entry.is_other() {
            if is_further(entry) {
                bits.drop(LONG_ROOT);
                entry = tables.long.further(entry, bits.peek());
            }
            if entry.is_literal() {
                bits.drop(entry.bits());
                bytes[at] = entry.byte();
                at += 1;
                continue;
            }
            if entry.is_end() {
                bits.drop(entry.bits());
                break true;
            }
            if entry.is_wrong() {
                return Err(Corrupt);
            }
        }
        // Length and distance together are 48 bits at most.
        let length = entry.value(bits.peek());
        bits.drop(entry.bits());
        let mut entry = tables.far.get(bits.peek());
        if entry.is_other() {
            if is_further(entry) {
                bits.drop(FAR_ROOT);
                entry = tables.far.further(entry, bits.peek());
            }
            if entry.is_wrong() {
                return Err(Corrupt);
            }
        }
        let distance = entry.value(bits.peek());
        bits.drop(entry.bits());
        if distance > at - origin {
            return Err(Corrupt);
        }
        copy::roughly(bytes, at, distance, length);
        at += length;
    };
    (*all_bits, output.at) = (bits, at);
    Ok(ended)
}

/// Decodes one symbol; nothing, and no bit is used, where the input ends before it does.
pub(super) fn carefully(
    tables: &Tables,
    input: &[u8],
    bits: &mut Bits,
) -> Result<Option<Symbol>, Corrupt> {
    bits.fill(input);
    let (mut entry, mut used) = (tables.long.get(bits.peek()), 0);
    if is_further(entry) {
        used = LONG_ROOT;
        entry = tables.long.further(entry, bits.peek_behind(used));
    }
    if used + entry.code_bits() > bits.count() {
        return Ok(None);
    }
    if entry.is_wrong() {
        return Err(Corrupt);
    }
    let (symbol, used) = if entry.is_literal() {
        (Symbol::Literal(entry.byte()), used + entry.bits())
    } else if entry.is_end() {
        (Symbol::End, used + entry.bits())
    } else {
        let length = entry.value(bits.peek_behind(used));
        let Some((distance, used)) = far(tables, *bits, used + entry.bits())? else {
            return Ok(None);
        };
        (Symbol::Match { length, distance }, used)
    };
    bits.drop(used);
    Ok(Some(symbol))
}

/// The distance behind so many bits of a length, and the bits of both.
fn far(tables: &Tables, bits: Bits, mut used: u32) -> Result<Option<(usize, u32)>, Corrupt> {
    if used > bits.count() {
        return Ok(None);
    }
    let mut entry = tables.far.get(bits.peek_behind(used));
    if is_further(entry) {
        used += FAR_ROOT;
        entry = tables.far.further(entry, bits.peek_behind(used));
    }
    if used + entry.code_bits() > bits.count() {
        return Ok(None);
    }
    if entry.is_wrong() {
        return Err(Corrupt);
    }
    let distance = entry.value(bits.peek_behind(used));
    used += entry.bits();
    Ok((used <= bits.count()).then_some((distance, used)))
}

/// Whether the code goes on in another table.
#[inline(always)]
fn is_further(entry: Entry) -> bool {
    entry.is_other() && !entry.is_end() && !entry.is_wrong()
}
