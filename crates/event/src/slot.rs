//! The event: one 32-byte slot of a lane, or two where one is not enough.
//!
//! `docs/format/event.md` gives the meaning of every field for every kind of call.

use crate::Function;

/// Bytes of a slot.
pub const SLOT_BYTES: usize = 32;

/// The event has a second slot.
pub const WIDE: u16 = 0x8000;
/// The call failed; the second slot holds −errno.
pub const FAILED: u16 = 0x4000;
/// This is a second slot.
pub const SECOND: u16 = 0x2000;
/// The bits that are the function's code. Bit 12 is kept free and read as zero.
pub const CODE: u16 = 0x0fff;

/// The call site of calls whose caller is not known, or for which the table was full.
pub const NO_SITE: u16 = 0;
/// The file of calls on descriptors that are not files, or are not known.
pub const NO_FILE: u32 = 0;
/// The offset of calls that have none.
pub const NO_OFFSET: i64 = -1;

/// One call, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When it began, in ticks of the segment's clock.
    pub start: u64,
    /// How long it took, in ticks.
    pub duration: u64,
    /// Where in the file, or −1.
    pub offset: i64,
    /// Bytes asked for.
    pub length: u64,
    /// Bytes moved, another result, or −errno.
    pub result: i64,
    /// Index into the segment's files, 0 if there is none.
    pub file: u32,
    /// Code of the function; kept even if this build does not know it.
    pub code: u16,
    /// Whether it failed.
    pub failed: bool,
    /// Index into the segment's call sites, 0 if there is none.
    pub site: u16,
    /// Number of the enclosing call in the same lane, 0 if there is none.
    pub parent: u32,
    /// This call's own number, if it encloses others; else 0.
    pub number: u32,
    /// Offset into the segment's extensions plus one, 0 if there is none.
    pub extension: u32,
}

/// Why the words of a slot are not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// Fills the end of a chunk.
    Padding,
    /// A second slot without its first, or a first one without its second.
    Torn,
}

impl Event {
    /// The function, if this build knows its code.
    #[must_use]
    pub const fn function(&self) -> Option<Function> {
        Function::from_code(self.code)
    }

    /// Whether one slot can hold it: the result is the length asked, and nothing is large.
    #[must_use]
    #[inline]
    pub const fn fits_one_slot(&self) -> bool {
        !self.failed
            && self.length >> 32 == 0
            && self.duration >> 32 == 0
            && self.result == self.length.cast_signed()
            && self.parent | self.number | self.extension == 0
    }

    /// The words of the first slot; `flags` are [`WIDE`] and [`FAILED`].
    #[must_use]
    #[inline]
    pub const fn first(&self, flags: u16) -> [u64; 4] {
        [
            self.start,
            self.offset.cast_unsigned(),
            self.length & 0xffff_ffff | self.duration << 32,
            self.file as u64
                | (((self.code & CODE) | flags) as u64) << 32
                | (self.site as u64) << 48,
        ]
    }

    /// The words of the second slot.
    #[must_use]
    #[inline]
    pub const fn second(&self) -> [u64; 4] {
        [
            self.length >> 32 | (self.duration >> 32) << 32,
            self.result.cast_unsigned(),
            self.parent as u64 | (self.number as u64) << 32,
            self.extension as u64 | (((self.code & CODE) | SECOND) as u64) << 32,
        ]
    }

    /// Whether the first slot says that a second one follows.
    #[must_use]
    pub const fn is_wide(first: [u64; 4]) -> bool {
        (first[3] >> 32) as u16 & WIDE != 0
    }

    /// Reads an event from its first slot and, for a wide one, its second.
    ///
    /// # Errors
    /// Padding, and slots that do not belong together.
    pub const fn decode(first: [u64; 4], second: Option<[u64; 4]>) -> Result<Event, Odd> {
        // Truncations take the fields out of the word as the layout packs them.
        let word = (first[3] >> 32) as u16;
        if word & SECOND != 0 {
            return Err(Odd::Torn);
        }
        if word & CODE == 0 {
            return Err(Odd::Padding);
        }
        let mut event = Event {
            start: first[0],
            offset: first[1].cast_signed(),
            length: first[2] & 0xffff_ffff,
            duration: first[2] >> 32,
            result: (first[2] & 0xffff_ffff).cast_signed(),
            file: first[3] as u32,
            code: word & CODE,
            failed: word & FAILED != 0,
            site: (first[3] >> 48) as u16,
            parent: 0,
            number: 0,
            extension: 0,
        };
        if word & WIDE == 0 {
            return Ok(event);
        }
        let Some(second) = second else { return Err(Odd::Torn) };
        if (second[3] >> 32) as u16 != event.code | SECOND {
            return Err(Odd::Torn);
        }
        event.length |= second[0] << 32;
        event.duration |= (second[0] >> 32) << 32;
        event.result = second[1].cast_signed();
        event.parent = second[2] as u32;
        event.number = (second[2] >> 32) as u32;
        event.extension = second[3] as u32;
        Ok(event)
    }
}

// The lane, the segment reader and the stream all count on this size: a change here is a new
// format version (docs/format/event.md).
const _: () = assert!(size_of::<[u64; 4]>() == SLOT_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Event {
        Event {
            start: 0x0102_0304_0506_0708,
            duration: 77,
            offset: 4096,
            length: 65536,
            result: 65536,
            file: 9,
            code: Function::Pwrite.code(),
            failed: false,
            site: 513,
            parent: 0,
            number: 0,
            extension: 0,
        }
    }

    #[test]
    fn a_common_event_takes_one_slot() {
        let event = plain();
        assert!(event.fits_one_slot());
        assert_eq!(Event::decode(event.first(0), None), Ok(event));
        // The layout, byte by byte: a change is a new format version.
        assert_eq!(
            event.first(0),
            [0x0102_0304_0506_0708, 4096, 77 << 32 | 65536, 513 << 48 | 19 << 32 | 9]
        );
    }

    #[test]
    fn what_needs_more_takes_two() {
        for event in [
            Event { result: 100, ..plain() },
            Event { result: -9, failed: true, ..plain() },
            Event { length: 5 << 32, result: 5 << 32, ..plain() },
            Event { duration: 1 << 33 | 5, ..plain() },
            Event { parent: 3, ..plain() },
            Event { number: 3, ..plain() },
            Event { extension: 3, ..plain() },
        ] {
            assert!(!event.fits_one_slot());
            let flags = WIDE | if event.failed { FAILED } else { 0 };
            let first = event.first(flags);
            assert!(Event::is_wide(first));
            assert_eq!(Event::decode(first, Some(event.second())), Ok(event));
            assert_eq!(Event::decode(first, None), Err(Odd::Torn));
            assert_eq!(Event::decode(event.second(), None), Err(Odd::Torn));
            assert_eq!(Event::decode(first, Some(plain().first(0))), Err(Odd::Torn));
        }
        assert_eq!(Event::decode([0; 4], None), Err(Odd::Padding));
    }
}
