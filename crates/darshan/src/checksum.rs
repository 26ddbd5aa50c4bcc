//! Adler-32 (a stored zlib block ends with it) and CRC-32 (blocks of the netra section), without
//! allocation, so that the encoder inside the application can use them.

/// A running Adler-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adler32 {
    sum: u32,
    sums: u32,
}

impl Default for Adler32 {
    fn default() -> Self {
        Adler32 { sum: 1, sums: 0 }
    }
}

impl Adler32 {
    const PRIME: u32 = 65_521;
    /// The most bytes that can be added before a sum of sums could overflow 32 bits.
    const RUN: usize = 5_552;

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for run in bytes.chunks(Self::RUN) {
            for &byte in run {
                self.sum = self.sum.wrapping_add(u32::from(byte));
                self.sums = self.sums.wrapping_add(self.sum);
            }
            self.sum %= Self::PRIME;
            self.sums %= Self::PRIME;
        }
    }

    /// The checksum of what was taken in so far; stored big-endian by zlib.
    #[must_use]
    pub const fn value(self) -> u32 {
        (self.sums << 16) | self.sum
    }
}

/// A running CRC-32 (IEEE 802.3, reflected), eight bytes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc32 {
    state: u32,
}

impl Default for Crc32 {
    fn default() -> Self {
        Crc32 { state: !0 }
    }
}

impl Crc32 {
    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in words {
            let [i, j, k, l] = (self.state ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
            self.state = TABLE[7][i as usize]
                ^ TABLE[6][j as usize]
                ^ TABLE[5][k as usize]
                ^ TABLE[4][l as usize]
                ^ TABLE[3][e as usize]
                ^ TABLE[2][f as usize]
                ^ TABLE[1][g as usize]
                ^ TABLE[0][h as usize];
        }
        for &byte in tail {
            let [low, ..] = self.state.to_le_bytes();
            self.state = TABLE[0][(low ^ byte) as usize] ^ (self.state >> 8);
        }
    }

    /// The checksum of what was taken in so far.
    #[must_use]
    pub const fn value(self) -> u32 {
        !self.state
    }
}

/// The CRC-32 of bytes that lie together.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc32::default();
    crc.update(bytes);
    crc.value()
}

/// `TABLE[n][byte]` is what `byte` does to the checksum when `n` bytes follow it.
static TABLE: [[u32; 256]; 8] = table();

const fn table() -> [[u32; 256]; 8] {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[0][byte] = crc;
        byte += 1;
    }
    let mut row = 1;
    while row < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = table[row - 1][byte];
            table[row][byte] = (before >> 8) ^ table[0][(before & 0xff) as usize];
            byte += 1;
        }
        row += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Adler32, crc32};

    fn adler32(bytes: &[u8]) -> u32 {
        let mut adler = Adler32::default();
        adler.update(bytes);
        adler.value()
    }

    #[test]
    fn known_values() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        let bytes: std::vec::Vec<u8> = (0..20_000u32).map(|n| (n * 31 % 251) as u8).collect();
        let mut crc = super::Crc32::default();
        let mut adler = Adler32::default();
        for piece in bytes.chunks(777) {
            crc.update(piece);
            adler.update(piece);
        }
        assert_eq!(crc.value(), crc32(&bytes));
        assert_eq!(adler.value(), adler32(&bytes));
        // All bytes 255 is what overflows a sum that is reduced too seldom.
        assert_eq!(adler32(&[255; 100_000]), 0x149a_302c);
    }
}
