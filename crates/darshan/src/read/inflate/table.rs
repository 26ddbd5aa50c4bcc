//! The tables that tell, by the next bits of a stream, which symbol stands there (RFC 1951, 3.2).
//!
//! A table is asked with its `ROOT` next bits. What codes are longer than that find there where their own table begins,
//! which is asked with the bits behind. Each entry says all that decoding needs, so that nothing is looked up twice.

use super::Corrupt;
use std::sync::LazyLock;

/// Bits that the first look at a table of literals and lengths takes.
pub(super) const LONG_ROOT: u32 = 10;
/// The same for distances.
pub(super) const FAR_ROOT: u32 = 8;
/// Entries that 286 codes of up to 15 bits need at most, rounded up to a power of two.
const LONG_SIZE: usize = 2048;
/// The same for 30 codes.
const FAR_SIZE: usize = 1024;
/// Symbols of the larger alphabet, with the two that must not occur.
const SYMBOLS: usize = 288;

/// What the next bits mean.
///
/// From below: the bits of code and number behind it together (5), free (3), the bits of the code alone (5), three marks,
/// and the value: a byte, or the least length or distance, or where the next table begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry(u32);

impl Entry {
    const WRONG: u32 = 1 << 13;
    const END: u32 = 1 << 14;
    /// Neither literal nor length nor distance.
    const OTHER: u32 = 1 << 15;
    const LITERAL: u32 = 1 << 31;

    const fn literal(byte: u32) -> Entry {
        Entry(Entry::LITERAL | byte << 16)
    }

    /// A length or distance of at least so much, with a number of so many bits behind the code.
    const fn least(least: u32, extra: u32) -> Entry {
        Entry(least << 16 | extra)
    }

    const fn end() -> Entry {
        Entry(Entry::OTHER | Entry::END)
    }

    const fn wrong() -> Entry {
        Entry(Entry::OTHER | Entry::WRONG)
    }

    /// The same for a code of so many bits.
    fn coded(self, bits: u32) -> Entry {
        Entry(self.0 + (bits << 8) + bits)
    }

    /// A code that goes on in a table of `1 << bits` entries.
    fn further(start: usize, bits: u32, root: u32) -> Entry {
        // Tables have fewer than 65,536 entries.
        Entry(Entry::OTHER | (start as u32) << 16 | bits << 8 | root)
    }

    #[inline(always)]
    pub(super) fn is_literal(self) -> bool {
        self.0 & Entry::LITERAL != 0
    }

    #[inline(always)]
    pub(super) fn is_other(self) -> bool {
        self.0 & Entry::OTHER != 0
    }

    #[inline(always)]
    pub(super) fn is_end(self) -> bool {
        self.0 & Entry::END != 0
    }

    #[inline(always)]
    pub(super) fn is_wrong(self) -> bool {
        self.0 & Entry::WRONG != 0
    }

    /// Bits of the code and of the number behind it.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 & 31
    }

    /// Bits of the code.
    #[inline(always)]
    pub(super) fn code_bits(self) -> u32 {
        self.0 >> 8 & 31
    }

    /// The byte of a literal.
    #[inline(always)]
    pub(super) fn byte(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// The length or distance, of which the number stands behind the code in these bits.
    #[inline(always)]
    pub(super) fn value(self, bits: u64) -> usize {
        let extra = (bits & ((1 << self.bits()) - 1)) >> self.code_bits();
        (self.0 >> 16) as usize + extra as usize
    }
}

/// A table of `SIZE` entries, a power of two, asked with `ROOT` bits first.
pub(super) struct Table<const SIZE: usize, const ROOT: u32>(Box<[Entry; SIZE]>);

/// Literals, lengths and the end of a block.
pub(super) type Long = Table<LONG_SIZE, LONG_ROOT>;
/// Distances.
pub(super) type Far = Table<FAR_SIZE, FAR_ROOT>;

impl<const SIZE: usize, const ROOT: u32> Table<SIZE, ROOT> {
    pub(super) fn new() -> Self {
        Table(Box::new([Entry::wrong(); SIZE]))
    }

    /// What the next bits mean; it may be that their code goes on [further](Table::further).
    #[inline(always)]
    pub(super) fn get(&self, bits: u64) -> Entry {
        self.0[bits as usize & ((1 << ROOT) - 1)]
    }

    /// What the bits behind the first `ROOT` mean, where `from` says that they matter.
    #[inline(always)]
    pub(super) fn further(&self, from: Entry, bits: u64) -> Entry {
        let within = bits as usize & ((1 << from.code_bits()) - 1);
        self.0[((from.0 >> 16) as usize + within) & (SIZE - 1)]
    }

    /// Makes the table for codes of these lengths. All codes together must be all there is to say, or there is just one, or none:
    /// whatever else stands in a stream is wrong.
    pub(super) fn set(&mut self, lengths: &[u8], meanings: &[Entry]) -> Result<(), Corrupt> {
        let mut counts = counts(lengths);
        let longest = (1..16).rev().find(|&bits| counts[bits] > 0).unwrap_or(0) as u32;
        let free = free(&counts)?;
        if longest == 0 || (free > 0 && longest == 1) {
            self.set_one(lengths, meanings);
            return Ok(());
        }
        if free > 0 {
            return Err(Corrupt);
        }
        let order = in_order(lengths, &counts);
        let mut symbols = order.iter().map(|&symbol| meanings[usize::from(symbol)]);
        let mut code = 0;
        for bits in 1..=ROOT.min(longest) {
            // What is known of shorter codes holds whatever bit follows.
            self.double(bits - 1);
            for meaning in symbols.by_ref().take(usize::from(counts[bits as usize])) {
                self.0[code as usize & (SIZE - 1)] = meaning.coded(bits);
                code = after(code, bits);
            }
        }
        for bits in longest..ROOT {
            self.double(bits);
        }
        self.set_further(symbols, &mut counts, code, longest);
        Ok(())
    }

    /// The tables of codes that are longer than `ROOT` bits.
    fn set_further(
        &mut self,
        mut symbols: impl Iterator<Item = Entry>,
        counts: &mut [u16; 16],
        mut code: u32,
        longest: u32,
    ) {
        let (mut start, mut size, mut first) = (1 << ROOT, 0, None);
        for bits in ROOT + 1..=longest {
            while counts[bits as usize] > 0
                && let Some(meaning) = symbols.next()
            {
                let begin = code & ((1 << ROOT) - 1);
                if first != Some(begin) {
                    first = Some(begin);
                    start += size;
                    let further = further_bits(counts, bits, ROOT, longest);
                    size = 1 << further;
                    self.0[begin as usize & (SIZE - 1)] = Entry::further(start, further, ROOT);
                }
                let step = 1 << (bits - ROOT);
                for at in ((code >> ROOT) as usize..size).step_by(step) {
                    self.0[(start + at) & (SIZE - 1)] = meaning.coded(bits - ROOT);
                }
                code = after(code, bits);
                counts[bits as usize] -= 1;
            }
        }
    }

    /// Repeats the first `1 << bits` entries.
    fn double(&mut self, bits: u32) {
        let size = 1 << bits;
        let (known, rest) = self.0.split_at_mut(size);
        rest[..size].copy_from_slice(known);
    }

    /// A table of one code, which is a bit long, or of none.
    fn set_one(&mut self, lengths: &[u8], meanings: &[Entry]) {
        let one = lengths.iter().position(|&bits| bits > 0).map(|symbol| meanings[symbol]);
        self.0[0] = one.unwrap_or(Entry::wrong()).coded(1);
        self.0[1] = Entry::wrong().coded(1);
        for bits in 1..ROOT {
            self.double(bits);
        }
    }
}

/// How many codes there are of each length; none of length 0.
fn counts(lengths: &[u8]) -> [u16; 16] {
    let mut counts = [0; 16];
    for &bits in lengths {
        counts[usize::from(bits & 15)] += 1;
    }
    counts[0] = 0;
    counts
}

/// Codes of 15 bits that could still be given; an error if too many were.
fn free(counts: &[u16; 16]) -> Result<u32, Corrupt> {
    counts[1..]
        .iter()
        .try_fold(1u32, |free, &count| (2 * free).checked_sub(u32::from(count)))
        .ok_or(Corrupt)
}

/// Symbols by the length of their codes, and by their number among equals.
fn in_order(lengths: &[u8], counts: &[u16; 16]) -> [u16; SYMBOLS] {
    let mut places = [0u16; 16];
    for bits in 1..15 {
        places[bits + 1] = places[bits] + counts[bits];
    }
    let mut order = [0; SYMBOLS];
    for (symbol, &bits) in (0..).zip(lengths) {
        if bits > 0 {
            let place = &mut places[usize::from(bits & 15)];
            order[usize::from(*place) % SYMBOLS] = symbol;
            *place += 1;
        }
    }
    order
}

/// The code that follows one of so many bits. The first bit of a code is its lowest, so that one is added from above.
fn after(code: u32, bits: u32) -> u32 {
    let zeros = !code & ((1 << bits) - 1);
    // Behind the last code comes none: whatever is said of it, nobody asks.
    let highest = 1 << zeros.checked_ilog2().unwrap_or(0);
    (code & (highest - 1)) | highest
}

/// Bits that tell the codes apart that begin alike: as many as codes of this length on need to fill their part.
fn further_bits(counts: &[u16; 16], bits: u32, root: u32, longest: u32) -> u32 {
    let mut further = bits - root;
    let mut free = 1i32 << further;
    loop {
        free -= i32::from(counts[(root + further) as usize]);
        if free <= 0 || root + further >= longest {
            return further;
        }
        further += 1;
        free *= 2;
    }
}

/// The two tables of a block.
pub(super) struct Tables {
    pub(super) long: Long,
    pub(super) far: Far,
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables { long: Long::new(), far: Far::new() }
    }

    pub(super) fn set(&mut self, long: &[u8], far: &[u8]) -> Result<(), Corrupt> {
        self.long.set(long, &LONG)?;
        self.far.set(far, &FAR)
    }
}

/// The codes that a block has which brings none of its own.
pub(super) static FIXED: LazyLock<Tables> = LazyLock::new(|| {
    let mut long = [8; SYMBOLS];
    long[144..256].fill(9);
    long[256..280].fill(7);
    let mut tables = Tables::new();
    let known = tables.set(&long, &[5; 32]);
    debug_assert_eq!(known, Ok(()), "these codes are complete");
    tables
});

/// What the symbols of the larger alphabet mean.
const LONG: [Entry; SYMBOLS] = {
    let mut all = [Entry::wrong(); SYMBOLS];
    let mut symbol = 0;
    while symbol < 256 {
        all[symbol] = Entry::literal(symbol as u32);
        symbol += 1;
    }
    all[256] = Entry::end();
    // Eight lengths without a number behind them, then four for each count of bits.
    let (mut least, mut at) = (3, 0);
    while at < 28 {
        let extra = if at < 8 { 0 } else { at / 4 - 1 };
        all[257 + at as usize] = Entry::least(least, extra);
        least += 1 << extra;
        at += 1;
    }
    all[285] = Entry::least(258, 0);
    all
};

/// What distances mean: four without a number, then two for each count of bits.
const FAR: [Entry; 32] = {
    let mut all = [Entry::wrong(); 32];
    let (mut least, mut at) = (1, 0);
    while at < 30 {
        let extra = if at < 4 { 0 } else { at / 2 - 1 };
        all[at as usize] = Entry::least(least, extra);
        least += 1 << extra;
        at += 1;
    }
    all
};

/// The code of code lengths: at most seven bits, so one look is enough. An entry is symbol and bits.
pub(super) struct Codes([u8; 128]);

impl Codes {
    pub(super) const fn new() -> Codes {
        Codes([0; 128])
    }

    /// The symbol that the next bits are, and how many of them.
    #[inline(always)]
    pub(super) fn get(&self, bits: u64) -> (u8, u32) {
        let entry = self.0[bits as usize & 127];
        (entry >> 3, u32::from(entry & 7))
    }

    /// Makes the table. Without any code, every bit is a length of 0, and the block fails for having no end.
    pub(super) fn set(&mut self, lengths: &[u8; 19]) -> Result<(), Corrupt> {
        let counts = counts(lengths);
        let free = free(&counts)?;
        if counts == [0; 16] {
            self.0.fill(1);
            return Ok(());
        }
        if free > 0 {
            return Err(Corrupt);
        }
        let order = in_order(lengths, &counts);
        let mut symbols = order.iter();
        let mut code = 0;
        for bits in 1..8 {
            for &symbol in symbols.by_ref().take(usize::from(counts[bits as usize])) {
                for at in (code as usize..128).step_by(1 << bits) {
                    self.0[at & 127] = (symbol as u8) << 3 | bits as u8;
                }
                code = after(code, bits);
            }
        }
        Ok(())
    }
}
