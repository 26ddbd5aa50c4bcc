//! Reading an object's unwind data, byte by byte: directly where the object stays for ever, through the
//! kernel where it may have been unloaded meanwhile.

use crate::sys;

/// Bytes asked of the kernel at a time.
const WINDOW: usize = 64;

/// Memory of an object that may be read: a readable segment of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Span {
    /// Its first address.
    pub(super) from: u64,
    /// The address behind its last.
    pub(super) to: u64,
    /// Whether it stays as long as the process.
    pub(super) stays: bool,
}

/// A place in a span.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    span: Span,
    pub(super) at: u64,
    window: [u8; WINDOW],
    /// Where the window begins; 0 while it holds nothing.
    window_at: u64,
}

impl Reader {
    pub(super) fn new(span: Span, at: u64) -> Reader {
        Reader { span, at, window: [0; WINDOW], window_at: 0 }
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let at = self.at;
        if at < self.span.from || at >= self.span.to {
            return None;
        }
        let byte = if self.span.stays {
            // SAFETY: in a readable segment of an object that is never unloaded; writable data that
            // may change is never in the segment of the unwind data.
            unsafe { core::ptr::with_exposed_provenance::<u8>(at as usize).read() }
        } else {
            self.through_kernel(at)?
        };
        self.at = at.wrapping_add(1);
        Some(byte)
    }

    #[cold]
    fn through_kernel(&mut self, at: u64) -> Option<u8> {
        let known = self.window_at != 0 && at.wrapping_sub(self.window_at) < WINDOW as u64;
        if !known {
            let room = usize::try_from(self.span.to.checked_sub(at)?).ok()?.min(WINDOW);
            self.window_at = 0;
            if !sys::peek(at, self.window.get_mut(..room)?) {
                return None;
            }
            self.window_at = at;
        }
        let index = usize::try_from(at.wrapping_sub(self.window_at)).ok()?;
        self.window.get(index).copied()
    }

    #[inline(always)]
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.span.stays {
            let (at, end) = (self.at, self.at.checked_add(N as u64)?);
            if at < self.span.from || end > self.span.to {
                return None;
            }
            self.at = end;
            // SAFETY: as in `byte`.
            return Some(unsafe {
                core::ptr::with_exposed_provenance::<[u8; N]>(at as usize).read()
            });
        }
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Some(bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.bytes().map(i32::from_le_bytes)
    }

    /// Two numbers, one behind the other.
    #[inline(always)]
    pub(super) fn pair(&mut self) -> Option<(i32, i32)> {
        let [a, b, c, d, e, f, g, h] = self.bytes()?;
        Some((i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h])))
    }

    /// An unsigned number of variable length.
    #[inline(always)]
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        // Nearly all have one byte.
        let start = self.at;
        match self.byte()? {
            byte @ 0..0x80 => Some(u64::from(byte)),
            _ => {
                self.at = start;
                self.variable().map(|(value, _, _)| value)
            }
        }
    }

    /// A number with a sign of variable length.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let (value, bits, last) = self.variable()?;
        let negative = last & 0x40 != 0 && bits < 64;
        Some((if negative { value | u64::MAX << bits } else { value }).cast_signed())
    }

    fn variable(&mut self) -> Option<(u64, u32, u8)> {
        let (mut value, mut bits) = (0_u64, 0_u32);
        loop {
            let byte = self.byte()?;
            if bits < 64 {
                value |= u64::from(byte & 0x7f) << bits;
            }
            bits = bits.checked_add(7).filter(|&bits| bits <= 70)?;
            if byte & 0x80 == 0 {
                return Some((value, bits, byte));
            }
        }
    }

    pub(super) fn skip(&mut self, bytes: u64) -> Option<()> {
        self.at = self.at.checked_add(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8], stays: bool) -> Reader {
        let from = bytes.as_ptr().expose_provenance() as u64;
        Reader::new(Span { from, to: from + bytes.len() as u64, stays }, from)
    }

    #[test]
    fn numbers_of_variable_length_have_their_sign() {
        for stays in [true, false] {
            let mut fixed = read(b"\x01\0\0\0\xff\xff\xff\xff\x02\0\x03", stays);
            assert_eq!((fixed.pair(), fixed.u16()), (Some((1, -1)), Some(2)));
            assert_eq!(fixed.u16(), None, "only half of it is there");
            let mut all = read(b"\x02\x7f\x80\x7f\xe5\x8e\x26\x78\x3f", stays);
            assert_eq!(all.unsigned(), Some(2));
            assert_eq!(all.signed(), Some(-1));
            assert_eq!(all.signed(), Some(-128));
            assert_eq!(all.unsigned(), Some(624_485));
            assert_eq!(all.signed(), Some(-8));
            assert_eq!(all.signed(), Some(63));
            assert_eq!(all.byte(), None, "it ends there");
        }
    }

    #[test]
    fn a_number_without_end_is_none() {
        assert_eq!(read(&[0xff; 32], true).unsigned(), None);
    }
}
