//! Numbers below a limit, packed as Parquet wants them: runs of one number by its length, others in bits.

/// Bits that hold any number below `count`.
pub(super) fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// How many values at the begin are the first one.
pub(super) fn run<T: Copy + PartialEq>(values: &[T]) -> usize {
    const SHORT: usize = 16;
    let Some(&first) = values.first() else { return 0 };
    let mut length = values.iter().take(SHORT).take_while(|&&value| value == first).count();
    if length < SHORT {
        return length;
    }
    // Most runs are short or very long. Values that equal their neighbours are found block by block, blocks that grow and then shrink.
    let repeats = |length: usize, more: usize| {
        values
            .get(length..length + more)
            .is_some_and(|next| *next == values[length - 1..length - 1 + more])
    };
    let mut block = SHORT;
    while repeats(length, block) {
        length += block;
        block *= 2;
    }
    while block > 0 {
        if repeats(length, block) {
            length += block;
        }
        block /= 2;
    }
    length
}

/// Appends one number, so often.
pub(super) fn repeat(number: u32, times: usize, width: u32, out: &mut Vec<u8>) {
    varint((times as u64) << 1, out);
    out.extend(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends `numbers`, each of at most `width` bits, in Parquet's mixture of runs and packed groups of eight.
pub(super) fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut from, mut at) = (0, 0);
    while let Some(&first) = numbers.get(at) {
        let length = run(&numbers[at..]);
        // A group that was begun is filled first.
        let missing = (8 - (at - from) % 8) % 8;
        if length >= missing + 8 {
            group(&numbers[from..at + missing], width, out);
            repeat(first, length - missing, width, out);
            from = at + length;
        }
        at += length;
    }
    group(&numbers[from..], width, out);
}

/// Appends groups of eight; the last is filled with zeros.
fn group(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint(((groups as u64) << 1) | 1, out);
    let end = out.len() + groups * width as usize;
    let (mut bits, mut held) = (0_u64, 0);
    for &number in numbers {
        bits |= u64::from(number) << held;
        held += width;
        if held >= 32 {
            out.extend((bits as u32).to_le_bytes());
            bits >>= 32;
            held -= 32;
        }
    }
    out.extend((bits as u32).to_le_bytes());
    out.resize(end, 0);
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
        assert_eq!([run(&[3; 37]), run(&[3, 3, 4]), run(&[3, 4]), run::<u8>(&[])], [37, 2, 1, 0]);
        for length in 1..300 {
            let mut values = vec![7; length];
            assert_eq!(run(&values), length);
            values.extend([8, 7, 7, 7]);
            assert_eq!(run(&values), length);
        }
        assert_eq!([width(0), width(1), width(2), width(3), width(256)], [0, 0, 1, 2, 8]);
    }
}
