//! Time: ticks of the processor's counter where it is steady, else nanoseconds of a clock.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use netra_event::segment::Clock;

use crate::arch;

/// A [`Clock`]; 0 before the first use, which reads the slower clock and is right too.
static CLOCK: AtomicU32 = AtomicU32::new(0);

/// Ticks now.
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    if CLOCK.load(Ordering::Relaxed) == Clock::Counter as u32 {
        arch::counter()
    } else {
        slow_now()
    }
}

#[cold]
#[inline(never)]
fn slow_now() -> u64 {
    if CLOCK.load(Ordering::Relaxed) == 0 {
        choose();
        return now();
    }
    clock(libc::CLOCK_MONOTONIC)
}

/// Decides what a tick is; the decision stands for the life of the process.
pub fn choose() -> Clock {
    let clock = if arch::steady_counter() { Clock::Counter } else { Clock::Nanoseconds };
    CLOCK.store(clock as u32, Ordering::Relaxed);
    clock
}

/// What a tick is, once it was decided.
#[must_use]
pub fn unit() -> u32 {
    CLOCK.load(Ordering::Relaxed)
}

/// The kernel's clock ticks since boot, in which `/proc` says when a process was started.
#[must_use]
pub fn since_boot() -> u64 {
    /// Nanoseconds of a tick of `USER_HZ`, which is 100 on every processor we know.
    const TICK: u64 = 10_000_000;
    clock(libc::CLOCK_BOOTTIME) / TICK
}

/// Nanoseconds of CLOCK_REALTIME.
#[must_use]
pub fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[must_use]
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the buffer is the caller's; this clock always exists, so errno stays.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec.cast_unsigned())
}

/// A moment in both units, taken close together.
#[must_use]
pub fn pair() -> (u64, u64) {
    let before = now();
    let time = realtime();
    let after = now();
    (before.wrapping_add(after.wrapping_sub(before) / 2), time)
}

/// The start of recording, from which nanoseconds are counted.
pub struct Origin {
    ticks: AtomicU64,
    time: AtomicU64,
}

/// The start of this process's recording.
pub static ORIGIN: Origin = Origin { ticks: AtomicU64::new(0), time: AtomicU64::new(0) };

impl Origin {
    /// Begins here.
    pub fn set(&self, (ticks, time): (u64, u64)) {
        self.ticks.store(ticks, Ordering::Relaxed);
        self.time.store(time, Ordering::Relaxed);
    }

    /// Ticks at the start.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// Nanoseconds of CLOCK_REALTIME at the start.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// Nanoseconds a tick has, judged by now: the longer ago the start, the better.
    #[must_use]
    pub fn rate(&self) -> f64 {
        rate((self.ticks(), self.time()), pair())
    }
}

/// Nanoseconds a tick has between two moments; a guess of 3 GHz where they are one.
#[must_use]
pub fn rate(from: (u64, u64), to: (u64, u64)) -> f64 {
    let ticks = to.0.wrapping_sub(from.0).cast_signed();
    let time = to.1.wrapping_sub(from.1).cast_signed();
    if CLOCK.load(Ordering::Relaxed) == Clock::Nanoseconds as u32 {
        return 1.0;
    }
    // Spans lie far below 2^53.
    if ticks > 0 && time > 0 { time as f64 / ticks as f64 } else { 1.0 / 3.0 }
}

#[cfg(test)]
mod tests {
    use super::{now, rate, realtime};

    #[test]
    fn ticks_rise_and_have_a_rate() {
        super::choose();
        let (first, second) = (now(), now());
        assert!(second >= first);
        assert!(realtime() > 1_700_000_000_000_000_000);
        assert_eq!(rate((0, 0), (2_000, 1_000)), 0.5);
        assert!(rate((5, 5), (5, 5)) > 0.0);
    }
}
