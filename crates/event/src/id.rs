//! Who and what: the rank of a process and the id of a file's record.

use core::fmt;

/// A process of a parallel job. Darshan writes −1 where a record was reduced over all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub i64);

impl Rank {
    /// All ranks together.
    pub const SHARED: Rank = Rank(-1);

    /// Whether this stands for all ranks.
    pub fn is_shared(self) -> bool {
        self.0 < 0
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a record: a 64-bit hash of its name, the same in every process and every log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

impl RecordId {
    /// Hashes a name as Darshan does (Bob Jenkins' public-domain `lookup8`, seed 0).
    #[must_use]
    pub fn of(name: &[u8]) -> RecordId {
        RecordId(jenkins64(name, 0))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The hash behind [`RecordId::of`] with a chosen seed; Darshan seeds it with the time to make
/// log file names differ.
#[must_use]
pub fn jenkins64(bytes: &[u8], seed: u64) -> u64 {
    let (mut a, mut b, mut c) = (seed, seed, 0x9e37_79b9_7f4a_7c13);
    let (blocks, tail) = bytes.as_chunks::<24>();
    for block in blocks {
        let [x, y, z] = [0, 8, 16].map(|at: usize| whole(block.as_chunks::<8>().0, at / 8));
        a = x.wrapping_add(a);
        b = y.wrapping_add(b);
        c = z.wrapping_add(c);
        (a, b, c) = mix(a, b, c);
    }
    a = a.wrapping_add(word(tail, 0));
    b = b.wrapping_add(word(tail, 8));
    // The lowest byte of c belongs to the length, so the last bytes move up by one.
    c = c.wrapping_add(bytes.len() as u64).wrapping_add(word(tail, 16) << 8);
    mix(a, b, c).2
}

/// The word with this number.
fn whole(words: &[[u8; 8]], number: usize) -> u64 {
    words.get(number).map_or(0, |word| u64::from_le_bytes(*word))
}

/// Up to eight little-endian bytes from `at`, zero where there are none.
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..) {
        None => 0,
        Some(rest) => match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        },
    }
}

fn mix(mut a: u64, mut b: u64, mut c: u64) -> (u64, u64, u64) {
    for (x, y, z) in [(43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> x);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << y);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> z);
    }
    (a, b, c)
}

#[cfg(test)]
mod tests {
    use super::RecordId;

    #[test]
    fn hashes_as_darshan_does() {
        for (name, id) in [
            ("", 10_211_412_111_675_192_767),
            ("a", 2_110_215_103_713_784_748),
            ("<STDIN>", 14_734_109_647_742_566_553),
            ("<STDOUT>", 15_920_181_672_442_173_319),
            ("<STDERR>", 7_238_257_241_479_193_519),
            ("heatmap:POSIX", 16_592_106_915_301_738_621),
            ("heatmap:STDIO", 3_989_511_027_826_779_520),
            ("heatmap:MPIIO", 3_668_870_418_325_792_824),
            ("/scratch/ior_HDF5.dat:/Dataset-0000.0000", 2_964_139_644_079_666_515),
            ("/0123456789012345678901", 6_709_879_238_743_172_344),
            ("/01234567890123456789012", 2_477_997_476_504_777_624),
        ] {
            assert_eq!(RecordId::of(name.as_bytes()).0, id, "{name}");
        }
    }
}
