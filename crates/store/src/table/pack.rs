//! Numbers below a limit, packed as Parquet wants them: runs of one number by its length, others in bits.

/// Bits that hold any number below `count`.
pub(super) fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Appends `numbers`, each of at most `width` bits, in Parquet's mixture of runs and packed groups of eight.
pub(super) fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut open: Vec<u32> = Vec::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let mut run = rest.iter().take_while(|&&number| number == first).count();
        // A group that was begun is filled first.
        let missing = (8 - open.len() % 8) % 8;
        if missing > 0 || run < 8 {
            run = run.min(if missing > 0 { missing } else { 8 });
            open.extend(&rest[..run]);
        } else {
            close(&mut open, width, out);
            varint((run as u64) << 1, out);
            out.extend(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        }
        rest = &rest[run..];
    }
    close(&mut open, width, out);
}

/// Writes the groups of eight.
fn close(open: &mut Vec<u32>, width: u32, out: &mut Vec<u8>) {
    if open.is_empty() {
        return;
    }
    open.resize(open.len().next_multiple_of(8), 0);
    varint(((open.len() as u64 / 8) << 1) | 1, out);
    let (mut bits, mut held) = (0_u64, 0);
    for number in open.drain(..) {
        bits |= u64::from(number) << held;
        held += width;
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_short_and_others_are_packed() {
        let mut out = Vec::new();
        pack(&[5; 100], 3, &mut out);
        assert_eq!(out, [200, 1, 5]);
        out.clear();
        // The example of Parquet's own description.
        pack(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
        assert_eq!(out, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        // A group is filled before the run behind it begins.
        pack(&[1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 1, &mut out);
        assert_eq!(out, [3, 0b1111_1101, 18, 1]);
        assert_eq!([width(0), width(1), width(2), width(3), width(256)], [0, 0, 1, 2, 8]);
    }
}
