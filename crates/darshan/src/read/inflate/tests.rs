//! Whatever a stream holds, each step takes and makes what zlib's does.

use super::{Corrupt, Inflate, Step};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use proptest::prelude::*;

/// One step of the judge.
fn judged(judge: &mut Decompress, input: &[u8], room: &mut [u8]) -> Result<Step, Corrupt> {
    let before = (judge.total_in(), judge.total_out());
    let status = judge.decompress(input, room, FlushDecompress::None).map_err(|_| Corrupt)?;
    let step = Step {
        taken: (judge.total_in() - before.0) as usize,
        made: (judge.total_out() - before.1) as usize,
        ended: status == Status::StreamEnd,
    };
    if step.ended {
        judge.reset(true);
    }
    Ok(step)
}

/// Gives both the same pieces of input and of room, and compares every step until the input ends or is wrong.
/// Gives what was made.
fn compare(stream: &[u8], pieces: &[usize], rooms: &[usize]) -> Vec<u8> {
    let (mut own, mut judge) = (Inflate::new(), Decompress::new(true));
    let (mut all, mut want) = (Vec::new(), Vec::new());
    let (mut pieces, mut rooms) = (pieces.iter().cycle(), rooms.iter().cycle());
    let (mut rest, mut idle) = (stream, 0);
    while idle < 4 {
        let input = &rest[..rest.len().min(*pieces.next().unwrap())];
        let room = *rooms.next().unwrap();
        let (at, begun) = (all.len(), want.len());
        all.resize(at + room, 0xaa);
        want.resize(begun + room, 0);
        let got = own.step(input, &mut all, at);
        let said = judged(&mut judge, input, &mut want[begun..]);
        assert_eq!(got, said, "{} bytes before the end, {at} made", rest.len());
        let Ok(step) = got else {
            all.truncate(at);
            break;
        };
        all.truncate(at + step.made);
        want.truncate(begun + step.made);
        rest = &rest[step.taken..];
        idle = if step.taken + step.made == 0 { idle + 1 } else { 0 };
    }
    assert!(all == want[..all.len()], "the bytes differ");
    all
}

fn packed(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut compress = Compress::new(Compression::new(level), true);
    let mut out = Vec::with_capacity(bytes.len() * 2 + 1024);
    compress.compress_vec(bytes, &mut out, FlushCompress::Finish).unwrap();
    out
}

/// Bytes like those of logs and others: runs, numbers that repeat with small changes, text, noise.
fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        (any::<u8>(), 1..3000usize).prop_map(|(byte, count)| vec![byte; count]),
        (proptest::collection::vec(any::<u8>(), 1..80), 1..200usize)
            .prop_map(|(bytes, count)| bytes.repeat(count)),
        (any::<u64>(), 1..400u64).prop_map(|(first, count)| {
            (0..count).flat_map(|at| (first + at * 8 % 1024).to_le_bytes()).collect()
        }),
        proptest::collection::vec(b'a'..b'q', 0..4000),
        proptest::collection::vec(any::<u8>(), 0..4000),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn some_sizes(most: usize) -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1 << 20]),
        proptest::collection::vec(1..most, 1..6),
        proptest::collection::vec(1..12usize, 1..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn streams_in_a_row_come_out_as_they_went_in(
        contents in proptest::collection::vec((some_bytes(), 0..10u32), 1..4),
        pieces in some_sizes(5000),
        rooms in some_sizes(70_000),
    ) {
        let stream: Vec<u8> =
            contents.iter().flat_map(|(bytes, level)| packed(bytes, *level)).collect();
        let want: Vec<u8> = contents.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        prop_assert!(compare(&stream, &pieces, &rooms) == want);
    }

    #[test]
    fn damaged_streams_are_taken_as_far_as_zlib_takes_them(
        (bytes, level) in (some_bytes(), 0..10u32),
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), 0..8u32), 1..4),
        cut in any::<proptest::sample::Index>(),
        pieces in some_sizes(5000),
        rooms in some_sizes(70_000),
    ) {
        let mut stream = packed(&bytes, level);
        for (place, bit) in flips {
            let place = place.index(stream.len());
            stream[place] ^= 1 << bit;
        }
        compare(&stream, &pieces, &rooms);
        compare(&stream[..cut.index(stream.len())], &pieces, &rooms);
    }

    #[test]
    fn noise_is_refused_where_zlib_refuses_it(
        kind in 0..4u8,
        noise in proptest::collection::vec(any::<u8>(), 0..400),
        pieces in some_sizes(100),
    ) {
        // A right head, and a first block of each kind, or a head of noise.
        let mut stream = vec![0x78, 0x9c];
        stream.extend(&noise);
        if let Some(first) = stream.get_mut(2) {
            *first = *first & !7 | kind << 1;
        }
        compare(&stream, &pieces, &[1 << 16]);
        compare(&noise, &pieces, &[1 << 16]);
    }
}

/// Streams whose codes are odd: written by hand, a bit at a time.
#[derive(Default)]
struct Bit {
    bytes: Vec<u8>,
    count: usize,
}

impl Bit {
    fn put(&mut self, value: u32, bits: usize) -> &mut Bit {
        for at in 0..bits {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = (value >> at & 1) as u8;
            *self.bytes.last_mut().unwrap() |= bit << (self.count % 8);
            self.count += 1;
        }
        self
    }

    /// A block of its own codes, each length said by itself; lengths are at most 15.
    fn codes(&mut self, long: &[u8], far: &[u8]) -> &mut Bit {
        self.put(1, 1).put(2, 2).put(long.len() as u32 - 257, 5).put(far.len() as u32 - 1, 5);
        // Lengths 0 to 15 by four bits each, and nothing that repeats them.
        self.put(15, 4).put(0, 9);
        for _ in 0..16 {
            self.put(4, 3);
        }
        for &length in long.iter().chain(far) {
            self.put(u32::from(length).reverse_bits() >> 28, 4);
        }
        self
    }
}

fn compared(bit: &Bit) {
    let stream = [&[0x78, 0x9c], &bit.bytes[..], &[0; 12]].concat();
    for pieces in [1, 3, 1000] {
        for room in [1, 5, 100, 4000] {
            compare(&stream, &[pieces], &[room]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Codes of all lengths up to 15 bits: a random way down from one code of one bit.
    #[test]
    fn codes_of_any_length_are_told_apart(
        splits in proptest::collection::vec(any::<proptest::sample::Index>(), 20..285),
        far in proptest::collection::vec(any::<proptest::sample::Index>(), 0..29),
        shuffle in any::<u64>(),
        noise in proptest::collection::vec(any::<u8>(), 200..1500),
    ) {
        let lengths = |splits: &[proptest::sample::Index]| {
            let mut lengths = vec![1u8, 1];
            for split in splits {
                let at = split.index(lengths.len());
                if lengths[at] < 15 {
                    lengths[at] += 1;
                    lengths.push(lengths[at]);
                }
            }
            lengths
        };
        let mut long = lengths(&splits);
        long.resize(286, 0);
        let mut state = shuffle | 1;
        for at in (1..286).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            long.swap(at, (state >> 33) as usize % (at + 1));
        }
        if long[256] == 0 {
            let other = long.iter().position(|&bits| bits > 0).unwrap();
            long.swap(256, other);
        }
        let mut bit = Bit::default();
        bit.codes(&long, &lengths(&far));
        for byte in noise {
            bit.put(u32::from(byte), 8);
        }
        compared(&bit);
    }
}

#[test]
fn codes_that_say_too_much_or_too_little_are_refused() {
    let with = |changes: &[(usize, u8)]| {
        let mut long = vec![0; 286];
        for &(symbol, bits) in changes {
            long[symbol] = bits;
        }
        long
    };
    let full: &[(usize, u8)] = &[(65, 2), (256, 2), (257, 2), (285, 2)];
    for (long, far) in [
        (with(&[(256, 1)]), vec![0]),
        (with(&[(256, 1)]), vec![1]),
        (with(&[(256, 2)]), vec![1]),
        (with(&[(65, 1), (256, 1)]), vec![0]),
        (with(&[(65, 1), (66, 1), (256, 1)]), vec![1, 1]),
        (with(&[(65, 1)]), vec![1, 1]),
        (with(full), vec![1]),
        (with(full), vec![0]),
        (with(full), vec![2]),
        (with(full), vec![0, 0, 0, 1, 1]),
        (with(full), vec![2; 4]),
        (with(full), vec![1; 3]),
        (with(&[]), vec![0]),
    ] {
        for noise in [0u32, 0xffff_ffff, 0x1234_5678, 0x5555_5555, 0xa0a0_0a0a, 0x0f0f_0f0f] {
            let mut bit = Bit::default();
            bit.codes(&long, &far).put(noise, 32).put(!noise, 32).put(noise, 32);
            compared(&bit);
        }
    }
}

#[test]
fn heads_are_refused_unless_they_are_those_of_zlib() {
    let body = packed(b"some bytes", 6);
    for first in 0..=255u8 {
        for second in 0..=255u8 {
            let stream = [&[first, second], &body[2..]].concat();
            compare(&stream, &[1000], &[1000]);
        }
    }
}
