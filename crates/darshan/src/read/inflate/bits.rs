//! The next bits of a stream.

/// Bits that were taken from the input and not used yet, the next one lowest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bits {
    /// Above the bits that count, those of the next byte may stand already: they are the same when they come again.
    held: u64,
    count: u32,
    /// Bytes of the input that were taken.
    taken: usize,
}

impl Bits {
    /// The same bits before another piece of input.
    pub(super) fn again(self) -> Bits {
        Bits { held: self.held & ((1 << self.count) - 1), count: self.count, taken: 0 }
    }

    pub(super) fn taken(self) -> usize {
        self.taken
    }

    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// The next bits, to be looked at: behind those that count, anything may stand.
    #[inline(always)]
    pub(super) fn peek(self) -> u64 {
        self.held
    }

    /// The same behind so many of them.
    pub(super) fn peek_behind(self, count: u32) -> u64 {
        self.held >> count
    }

    /// Takes as many whole bytes as there is room for, 48 bits at least, where the input has eight bytes more. Whether it has.
    #[inline(always)]
    pub(super) fn fill_quickly(&mut self, input: &[u8]) -> bool {
        let Some(word) = input.get(self.taken..).and_then(<[u8]>::first_chunk) else {
            return false;
        };
        self.held |= u64::from_le_bytes(*word) << self.count;
        self.taken += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
        true
    }

    /// The same with whatever the input has.
    pub(super) fn fill(&mut self, input: &[u8]) {
        if self.fill_quickly(input) {
            return;
        }
        while self.count < 56
            && let Some(&byte) = input.get(self.taken)
        {
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
            self.taken += 1;
        }
    }

    /// Whether there are so many bits.
    #[inline(always)]
    pub(super) fn need(&mut self, input: &[u8], count: u32) -> bool {
        if self.count < count {
            self.fill(input);
        }
        self.count >= count
    }

    /// The next bits, which must be there.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        let bits = self.held & ((1 << count) - 1);
        self.drop(count);
        bits
    }

    /// Passes over bits, which must be there.
    #[inline(always)]
    pub(super) fn drop(&mut self, count: u32) {
        self.held >>= count;
        self.count -= count;
    }

    /// Passes over the rest of a byte.
    pub(super) fn align(&mut self) {
        self.drop(self.count & 7);
    }

    /// Whole bytes that were not used stay in the input.
    pub(super) fn give_back(&mut self) {
        self.taken -= (self.count >> 3) as usize;
        self.count &= 7;
        self.held &= (1 << self.count) - 1;
    }

    /// Takes bytes of the input as they are, when none is held.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.taken += bytes;
    }
}
