//! Two records of one file, each by one rank or by several, become one: Darshan's rules for records that
//! every rank has.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used
)]

use super::rule::{Common, Float, Int, Ranking, Rules, Variance};

/// A record's numbers, and how many ranks they come from.
pub(crate) struct Side<'a> {
    pub(crate) ints: &'a [i64],
    pub(crate) floats: &'a [f64],
    pub(crate) ranks: u64,
}

/// The same, growing.
pub(crate) struct Sum<'a> {
    pub(crate) ints: &'a mut [i64],
    pub(crate) floats: &'a mut [f64],
    pub(crate) ranks: u64,
}

fn int(ints: &[i64], at: usize) -> i64 {
    ints.get(at).copied().unwrap_or(0)
}

fn float(floats: &[f64], at: usize) -> f64 {
    floats.get(at).copied().unwrap_or(0.0)
}

fn put<T>(places: &mut [T], at: usize, value: T) {
    if let Some(place) = places.get_mut(at) {
        *place = value;
    }
}

/// Bytes and seconds that a record is about.
fn moved(at: &Ranking, ints: &[i64], floats: &[f64]) -> (i64, f64) {
    let bytes = int(ints, at.bytes_read).wrapping_add(int(ints, at.bytes_written));
    let time =
        float(floats, at.read_time) + float(floats, at.write_time) + float(floats, at.meta_time);
    (bytes, time)
}

/// Makes the record of one rank ready to be joined: it is its own fastest and slowest, and does not vary.
pub(crate) fn begin(rules: &Rules, rank: i64, ints: &mut [i64], floats: &mut [f64]) {
    let Some(at) = rules.ranking else { return };
    let (bytes, time) = moved(&at, ints, floats);
    for (whose, amount, duration) in [
        (at.fastest, at.fastest_bytes, at.fastest_time),
        (at.slowest, at.slowest_bytes, at.slowest_time),
    ] {
        put(ints, whose, rank);
        put(ints, amount, bytes);
        put(floats, duration, time);
    }
    if let Some(Variance { time, bytes }) = at.variance {
        put(floats, time, 0.0);
        put(floats, bytes, 0.0);
    }
}

/// Takes another record in; both have begun. `other` is of higher ranks: where only one value can stay, it is
/// the higher rank's, as in Darshan.
pub(crate) fn join(rules: &Rules, mine: &mut Sum<'_>, other: &Side<'_>) {
    if let Some(at) = rules.ranking {
        vary(&at, mine, other);
        rank(&at, mine, other);
    }
    for ((index, &value), rule) in other.ints.iter().enumerate().zip(rules.ints.iter()) {
        let Some(own) = mine.ints.get_mut(index) else { break };
        match rule {
            // Not monitored (−1) stays so, however many ranks say it.
            Int::Sum | Int::Unused => *own = own.wrapping_add(value).max(-1),
            Int::Max => *own = value.max(*own),
            Int::Last => *own = value,
            Int::Any => *own |= value,
            Int::Along => {}
        }
    }
    for ((index, &value), rule) in other.floats.iter().enumerate().zip(rules.floats.iter()) {
        let Some(own) = mine.floats.get_mut(index) else { break };
        match *rule {
            Float::Sum => *own += value,
            Float::Earliest if value != 0.0 && (*own == 0.0 || value < *own) => *own = value,
            Float::Latest if value > *own => *own = value,
            Float::Longest { size } if value > *own => {
                *own = value;
                put(mine.ints, size, int(other.ints, size));
            }
            _ => {}
        }
    }
    for &common in rules.commons.iter() {
        merge_common(mine.ints, other.ints, common);
    }
    mine.ranks = mine.ranks.saturating_add(other.ranks);
}

/// The fastest and the slowest of both; who is as fast as another comes second.
fn rank(at: &Ranking, mine: &mut Sum<'_>, other: &Side<'_>) {
    let faster = float(other.floats, at.fastest_time) < float(mine.floats, at.fastest_time);
    let slower = float(other.floats, at.slowest_time) > float(mine.floats, at.slowest_time);
    for (take, whose, amount, duration) in [
        (faster, at.fastest, at.fastest_bytes, at.fastest_time),
        (slower, at.slowest, at.slowest_bytes, at.slowest_time),
    ] {
        if take {
            put(mine.ints, whose, int(other.ints, whose));
            put(mine.ints, amount, int(other.ints, amount));
            put(mine.floats, duration, float(other.floats, duration));
        }
    }
}

/// Variances over ranks: of two groups, from their own variances and sums (the sums are still apart).
fn vary(at: &Ranking, mine: &mut Sum<'_>, other: &Side<'_>) {
    let Some(variance) = at.variance else { return };
    let (bytes, time) = moved(at, mine.ints, mine.floats);
    let (other_bytes, other_time) = moved(at, other.ints, other.floats);
    // Ranks and bytes lie far below 2^53.
    let (n, m) = (mine.ranks as f64, other.ranks as f64);
    for (place, sum, other_sum) in
        [(variance.time, time, other_time), (variance.bytes, bytes as f64, other_bytes as f64)]
    {
        let apart = sum / n - other_sum / m;
        let squares = float(mine.floats, place) * n
            + float(other.floats, place) * m
            + apart * apart * n * m / (n + m);
        put(mine.floats, place, squares / (n + m));
    }
}

/// The most numbers that a common value has: H5D and PnetCDF describe an access by several.
const WIDEST: usize = 16;

/// Equal values add their counts; the four that occurred most often stay, the larger value first
/// where they occurred equally often.
fn merge_common(mine: &mut [i64], other: &[i64], common: Common) {
    let Common { values, width, counts } = common;
    let width = width.min(WIDEST);
    let mut all = [(0_i64, [0_i64; WIDEST]); 8];
    let mut used = 0_usize;
    for from in [&*mine, other] {
        for slot in 0..4_usize {
            let count = int(from, counts.saturating_add(slot));
            let begin = values.saturating_add(slot.saturating_mul(width));
            let mut value = [0; WIDEST];
            for (to, from) in
                value.iter_mut().zip(from.get(begin..).unwrap_or_default()).take(width)
            {
                *to = *from;
            }
            if count <= 0 {
                continue;
            }
            let known = all.iter_mut().take(used).find(|(_, known)| *known == value);
            match known {
                Some((sum, _)) => *sum = sum.saturating_add(count),
                None => {
                    put(&mut all, used, (count, value));
                    used = used.saturating_add(1);
                }
            }
        }
    }
    for slot in 0..4_usize {
        let key = |(count, value): &(i64, [i64; WIDEST])| (*count, value.first().copied());
        let mut best = (0, [0; WIDEST]);
        let mut place = None;
        for (index, entry) in all.iter().enumerate().take(used) {
            if entry.0 > 0 && (place.is_none() || key(entry) > key(&best)) {
                (best, place) = (*entry, Some(index));
            }
        }
        if let Some(index) = place {
            put(&mut all, index, (0, [0; WIDEST]));
        }
        put(mine, counts.saturating_add(slot), best.0);
        let begin = values.saturating_add(slot.saturating_mul(width));
        for (to, from) in mine.iter_mut().skip(begin).zip(best.1).take(width) {
            *to = from;
        }
    }
}
