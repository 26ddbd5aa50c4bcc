//! Which entry of the unwind data is about an address: the sorted table that linkers make
//! (`.eh_frame_hdr`), and the entry it leads to with what it shares with others.

use super::reader::{Reader, Span};
use crate::object;
use crate::real;

/// Encodings of pointers that compilers use here: signed 32 bits, relative to where they stand or to the
/// table; 32 bits without a sign; none.
const PC_RELATIVE: u8 = 0x1b;
const TABLE_RELATIVE: u8 = 0x3b;
const UNSIGNED_32: u8 = 0x03;
/// Bytes of a row of the table.
const ROW: u64 = 8;

/// What the unwind data says of one function.
pub(super) struct Frame {
    /// Where the function begins.
    pub(super) from: u64,
    /// The instructions that all functions of its kind begin with, and its own.
    pub(super) shared: (Reader, u64),
    pub(super) own: (Reader, u64),
    pub(super) code_unit: u64,
    pub(super) data_unit: i64,
    /// The register that holds the return address.
    pub(super) return_register: usize,
    /// Whether the kernel made it, to run a signal handler.
    pub(super) is_signal: bool,
}

/// The object that was asked last: callers are often of the same one.
#[derive(Default)]
pub(super) struct Tables {
    object: u32,
    span: Span,
    header: u64,
}

impl Tables {
    /// The frame of the function that holds an address.
    pub(super) fn frame(&mut self, address: u64) -> Option<Frame> {
        let number = object::search(address);
        if number == 0 {
            return None;
        }
        if number != self.object {
            let found = object::unwind(number)?;
            let stays = real::stays(found.object);
            self.span = Span { from: found.segment.0, to: found.segment.1, stays };
            self.header = found.header;
            self.object = number;
        }
        self.entry(address).and_then(|at| Frame::read(self.span, at, address))
    }

    /// Searches the table for the last function that begins at or before an address.
    fn entry(&self, address: u64) -> Option<u64> {
        let mut head = Reader::new(self.span, self.header);
        let [version, pointer, count, table] =
            [head.byte()?, head.byte()?, head.byte()?, head.byte()?];
        if version != 1 || count != UNSIGNED_32 || table != TABLE_RELATIVE || pointer & 0xf != 0xb {
            return None;
        }
        head.skip(4)?;
        let rows = u64::from(head.u32()?);
        let first = head.at;
        // One reader for all rows: to make one takes longer than to read a row.
        let mut begins = |row: u64| -> Option<(u64, u64)> {
            head.at = first.checked_add(row.checked_mul(ROW)?)?;
            let (from, entry) = head.pair()?;
            let place = |offset: i32| self.header.wrapping_add_signed(i64::from(offset));
            Some((place(from), place(entry)))
        };
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low.wrapping_add(high.wrapping_sub(low) / 2);
            if begins(middle)?.0 <= address {
                low = middle.wrapping_add(1);
            } else {
                high = middle;
            }
        }
        begins(low.checked_sub(1)?).map(|(_, entry)| entry)
    }
}

/// Bytes of a pointer in an encoding, which its low bits tell.
fn pointer_bytes(encoding: u8) -> u64 {
    match encoding & 7 {
        0 | 4 => 8,
        2 => 2,
        _ => 4,
    }
}

/// A whole entry: where it begins, and the address behind its end.
fn bounds(reader: &mut Reader) -> Option<u64> {
    let length = reader.u32().filter(|&length| length != 0 && length != u32::MAX)?;
    reader.at.checked_add(u64::from(length))
}

impl Frame {
    fn read(span: Span, at: u64, address: u64) -> Option<Frame> {
        let mut own = Reader::new(span, at);
        let end = bounds(&mut own)?;
        let here = own.at;
        let shared_at = here.checked_sub(u64::from(own.u32()?))?;
        let mut frame = Frame::read_shared(span, shared_at)?;
        let from = own.at.wrapping_add_signed(i64::from(own.i32()?));
        let bytes = u64::from(own.u32()?);
        if address < from || address >= from.checked_add(bytes)? {
            return None;
        }
        let more = own.unsigned()?;
        own.skip(more)?;
        frame.from = from;
        frame.own = (own, end);
        Some(frame)
    }

    /// What functions of one kind share.
    fn read_shared(span: Span, at: u64) -> Option<Frame> {
        let mut shared = Reader::new(span, at);
        let end = bounds(&mut shared)?;
        if shared.u32()? != 0 {
            return None;
        }
        let version = shared.byte().filter(|version| matches!(version, 1 | 3))?;
        // `z` says that what is not known can be skipped; without it, and empty, nothing is there.
        let mut letters = [0_u8; 8];
        let mut count = 0_usize;
        loop {
            let letter = shared.byte()?;
            if letter == 0 {
                break;
            }
            *letters.get_mut(count)? = letter;
            count = count.wrapping_add(1);
        }
        let letters = letters.get(..count)?;
        let code_unit = shared.unsigned()?;
        let data_unit = shared.signed()?;
        let register = if version == 1 { u64::from(shared.byte()?) } else { shared.unsigned()? };
        if letters.first() != Some(&b'z') {
            return None;
        }
        let bytes = shared.unsigned()?;
        let instructions = shared.at.checked_add(bytes)?;
        let mut is_signal = false;
        for letter in letters.iter().skip(1) {
            match letter {
                b'R' if shared.byte()? != PC_RELATIVE => return None,
                b'R' => {}
                b'L' => drop(shared.byte()?),
                b'P' => {
                    let encoding = shared.byte()?;
                    shared.skip(pointer_bytes(encoding))?;
                }
                b'S' => is_signal = true,
                // `B`: return addresses are signed, which `arch::return_address` takes off.
                b'B' => {}
                _ => break,
            }
        }
        shared.at = instructions;
        Some(Frame {
            from: 0,
            shared: (shared, end),
            own: (shared, end),
            code_unit,
            data_unit,
            return_register: usize::try_from(register).ok()?,
            is_signal,
        })
    }
}
