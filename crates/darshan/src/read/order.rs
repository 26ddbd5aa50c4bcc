//! The byte order of a log is its writer's.

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The lowest.
    Little,
    /// The highest.
    Big,
}

impl Order {
    /// A word at an offset; 0 where there are not enough bytes, which callers have checked.
    #[inline]
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        match self {
            Order::Little => u64::from_le_bytes(word),
            Order::Big => u64::from_be_bytes(word),
        }
    }

    #[inline]
    pub(crate) fn i64(self, bytes: &[u8], at: usize) -> i64 {
        self.u64(bytes, at).cast_signed()
    }

    #[inline]
    pub(crate) fn f64(self, bytes: &[u8], at: usize) -> f64 {
        f64::from_bits(self.u64(bytes, at))
    }

    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        match self {
            Order::Little => u32::from_le_bytes(word),
            Order::Big => u32::from_be_bytes(word),
        }
    }

    /// Replaces what a buffer held by the words of `bytes`.
    pub(crate) fn ints(self, bytes: &[u8], ints: &mut Vec<i64>) {
        let words = bytes.as_chunks::<8>().0.iter().copied();
        ints.clear();
        match self {
            Order::Little => ints.extend(words.map(i64::from_le_bytes)),
            Order::Big => ints.extend(words.map(i64::from_be_bytes)),
        }
    }

    /// Replaces what a buffer held by the numbers of `bytes`.
    pub(crate) fn floats(self, bytes: &[u8], floats: &mut Vec<f64>) {
        let words = bytes.as_chunks::<8>().0.iter().copied();
        floats.clear();
        match self {
            Order::Little => floats.extend(words.map(f64::from_le_bytes)),
            Order::Big => floats.extend(words.map(f64::from_be_bytes)),
        }
    }
}

/// Bytes up to a NUL, or all of them.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}
