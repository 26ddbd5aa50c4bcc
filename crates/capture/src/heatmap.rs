//! Bytes over time: 200 bins a thread and module, that begin 100 ms wide and double when time
//! runs past the last. A thread remembers the bin of now, so that most calls only add.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use netra_event::segment::{BINS, Region, table};

use crate::arena::ARENA;
use crate::module::Module;
use crate::platform;
use crate::time::ORIGIN;
use crate::tls::Thread;

/// Width of a bin at the start, in nanoseconds.
const WIDTH: u64 = 100_000_000;

/// A thread's heatmap of one module and the bin that time is in.
#[derive(Default)]
pub struct Heat {
    map: Cell<Option<&'static table::Heatmap>>,
    /// The bin's first tick.
    from: Cell<u64>,
    /// The tick behind its last.
    until: Cell<u64>,
    /// Where its bytes are counted: written, read.
    bins: Cell<Option<[&'static AtomicU64; 2]>>,
}

/// Adds a call's bytes to the bins it lies in.
#[inline(always)]
pub fn add<const WRITE: bool>(thread: &Thread, module: &Module, start: u64, end: u64, bytes: u64) {
    let Some(heat) = thread.heat.get(module.index) else { return };
    if start >= heat.from.get()
        && end < heat.until.get()
        && let Some([written, read]) = heat.bins.get()
    {
        let bin = if WRITE { written } else { read };
        bin.store(bin.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    } else {
        add_slowly::<WRITE>(thread, heat, module, start, end, bytes);
    }
}

fn bins<const WRITE: bool>(map: &table::Heatmap) -> &[AtomicU64; BINS] {
    if WRITE { &map.written } else { &map.read }
}

#[cold]
#[inline(never)]
fn add_slowly<const WRITE: bool>(
    thread: &Thread,
    heat: &Heat,
    module: &Module,
    start: u64,
    end: u64,
    bytes: u64,
) {
    let Some(map) = heat.map.get().or_else(|| create(thread, heat, module)) else { return };
    // Judged anew at every new bin, so bounds get exact as the run goes on.
    let rate = ORIGIN.rate();
    let nanos = |ticks: u64| {
        let since = ticks.wrapping_sub(ORIGIN.ticks()).cast_signed().max(0);
        // Below 2^53 for months; negative ones are calls that began before recording.
        (since as f64 * rate) as u64
    };
    let (from, until) = (nanos(start), nanos(end));
    let mut width = map.width.load(Ordering::Relaxed).max(1);
    let bin = |width: u64| until.checked_div(width).unwrap_or(0);
    while bin(width) >= BINS as u64 {
        halve(&map.written);
        halve(&map.read);
        width = width.wrapping_mul(2);
        map.width.store(width, Ordering::Relaxed);
    }
    spread(bins::<WRITE>(map), width, from, until.max(from), bytes);
    let bin = bin(width);
    if bin != 0 {
        // The process lives for a while.
        platform::complete();
    }
    let ticks = |nanos: u64| ORIGIN.ticks().wrapping_add((nanos as f64 / rate) as u64);
    let place = bin as usize;
    heat.bins.set(map.written.get(place).and_then(|written| Some([written, map.read.get(place)?])));
    heat.from.set(ticks(bin.wrapping_mul(width)));
    heat.until.set(ticks(bin.wrapping_add(1).wrapping_mul(width)));
}

fn create(thread: &Thread, heat: &Heat, module: &Module) -> Option<&'static table::Heatmap> {
    let at = ARENA.take(Region::Heatmaps, size_of::<table::Heatmap>() as u64)?;
    // SAFETY: just taken, atomics only.
    let map = unsafe { ARENA.at::<table::Heatmap>(Region::Heatmaps, at) }?;
    map.width.store(WIDTH, Ordering::Relaxed);
    map.module.store(module.code, Ordering::Relaxed);
    map.thread.store(thread.place.get().wrapping_sub(1), Ordering::Relaxed);
    map.ready.store(1, Ordering::Release);
    heat.map.set(Some(map));
    Some(map)
}

/// Joins neighbouring bins.
fn halve(bins: &[AtomicU64; BINS]) {
    for half in 0..BINS {
        let pair = half.wrapping_mul(2);
        let value = |bin: usize| bins.get(bin).map_or(0, |bin| bin.load(Ordering::Relaxed));
        let sum = value(pair).wrapping_add(value(pair.wrapping_add(1)));
        if let Some(bin) = bins.get(half) {
            bin.store(sum, Ordering::Relaxed);
        }
    }
}

/// Shares bytes out over the bins between two moments, in proportion to time; the last bin takes
/// what rounding left, so that sums stay exact.
fn spread(bins: &[AtomicU64; BINS], width: u64, from: u64, until: u64, bytes: u64) {
    let (first, last) =
        (from.checked_div(width).unwrap_or(0), until.checked_div(width).unwrap_or(0));
    let add = |bin: u64, share: u64| {
        if let Some(bin) = usize::try_from(bin).ok().and_then(|bin| bins.get(bin)) {
            bin.store(bin.load(Ordering::Relaxed).wrapping_add(share), Ordering::Relaxed);
        }
    };
    let span = until.wrapping_sub(from).max(1) as f64;
    let mut rest = bytes;
    for bin in first..last {
        let begin = bin.wrapping_mul(width).max(from);
        let end = bin.wrapping_add(1).wrapping_mul(width).min(until);
        let part = bytes as f64 * (end.wrapping_sub(begin) as f64 / span);
        // Rounds to nearest; shares are positive.
        let share = ((part + 0.5) as u64).min(rest);
        add(bin, share);
        rest = rest.wrapping_sub(share);
    }
    add(last, rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins() -> [AtomicU64; BINS] {
        [const { AtomicU64::new(0) }; BINS]
    }

    #[test]
    fn bytes_are_shared_by_time_and_none_is_lost() {
        let bins = bins();
        spread(&bins, 100, 50, 250, 1000);
        let values = [0, 1, 2, 3].map(|bin: usize| bins[bin].load(Ordering::Relaxed));
        assert_eq!(values, [250, 500, 250, 0]);
        spread(&bins, 100, 10, 20, 7);
        assert_eq!(bins[0].load(Ordering::Relaxed), 257);
    }

    #[test]
    fn halving_keeps_the_sum() {
        let bins = bins();
        for (value, bin) in (0..).zip(&bins) {
            bin.store(value, Ordering::Relaxed);
        }
        halve(&bins);
        let sum: u64 = bins.iter().map(|bin| bin.load(Ordering::Relaxed)).sum();
        assert_eq!(sum, 199 * 200 / 2);
        assert_eq!(bins[1].load(Ordering::Relaxed), 2 + 3);
        assert_eq!(bins[100].load(Ordering::Relaxed), 0);
    }
}
