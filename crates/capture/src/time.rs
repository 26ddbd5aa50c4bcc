//! Time: ticks of the processor's counter where it is steady, else nanoseconds of a clock.
//!
//! A process can take the counter from itself (`PR_SET_TSC`, seccomp's strict mode), and with it libc's clocks,
//! which read it too. Ticks are then made from a clock that the kernel is asked for; where it may not be
//! asked, time stands still.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use netra_event::segment::Clock;

use crate::arch;
use crate::sys;

/// How ticks are read: a [`Clock`], or [`MADE`]; 0 before the first use, which reads the slower clock and is
/// right too.
pub(crate) static CLOCK: AtomicU32 = AtomicU32::new(0);
/// Ticks of a counter that is out of reach are made from a clock.
const MADE: u32 = 3;
/// What a tick is: a [`Clock`].
static UNIT: AtomicU32 = AtomicU32::new(0);
/// Not 0 where clocks are asked of the kernel, not of libc.
static BY_CALL: AtomicU32 = AtomicU32::new(0);
/// The last moment before clocks might be refused.
static LAST: Last =
    Last { ticks: AtomicU64::new(0), nanos: AtomicU64::new(0), rate: AtomicU64::new(0) };

/// A moment in ticks and in nanoseconds of CLOCK_MONOTONIC, and ticks a nanosecond, as a floating-point
/// number's bits.
struct Last {
    ticks: AtomicU64,
    nanos: AtomicU64,
    rate: AtomicU64,
}

/// Ticks now.
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    arch::counter_or(slow_now)
}

#[cold]
#[inline(never)]
fn slow_now() -> u64 {
    match CLOCK.load(Ordering::Relaxed) {
        0 => {
            choose();
            now()
        }
        MADE => made(),
        _ => clock(libc::CLOCK_MONOTONIC).unwrap_or(LAST.nanos.load(Ordering::Relaxed)),
    }
}

/// Ticks since the counter went out of reach, by the clock.
fn made() -> u64 {
    let (ticks, nanos) = (LAST.ticks.load(Ordering::Relaxed), LAST.nanos.load(Ordering::Relaxed));
    let rate = f64::from_bits(LAST.rate.load(Ordering::Relaxed));
    let since = clock(libc::CLOCK_MONOTONIC).map_or(0, |now| now.saturating_sub(nanos));
    // Spans lie far below 2^53.
    ticks.wrapping_add((since as f64 * rate) as u64)
}

/// Decides what a tick is; the decision stands for the life of the process.
pub fn choose() {
    if UNIT.load(Ordering::Relaxed) != 0 {
        return;
    }
    let clock = if arch::steady_counter() { Clock::Counter } else { Clock::Nanoseconds };
    UNIT.store(clock as u32, Ordering::Relaxed);
    CLOCK.store(clock as u32, Ordering::Relaxed);
}

/// The same where it is not known whether there is a counter, and nothing is recorded.
pub fn choose_without_counter() {
    BY_CALL.store(1, Ordering::Relaxed);
    UNIT.store(Clock::Nanoseconds as u32, Ordering::Relaxed);
    CLOCK.store(Clock::Nanoseconds as u32, Ordering::Relaxed);
}

/// The kernel may refuse its clocks from now on: what libc would make of that is not waited for.
pub fn ask_kernel() {
    // With a counter, only its going out of reach needs the moment.
    if CLOCK.load(Ordering::Relaxed) == Clock::Nanoseconds as u32 {
        LAST.nanos.store(monotonic(), Ordering::Relaxed);
    }
    BY_CALL.store(1, Ordering::Relaxed);
}

/// The processor's counter is about to go out of reach; whether it was in use until now.
pub fn lose_counter() -> bool {
    let lost = CLOCK.load(Ordering::Relaxed) == Clock::Counter as u32;
    if lost {
        LAST.nanos.store(monotonic(), Ordering::Relaxed);
        LAST.ticks.store(now(), Ordering::Relaxed);
        LAST.rate.store((1.0 / ORIGIN.rate()).to_bits(), Ordering::Relaxed);
        CLOCK.store(MADE, Ordering::Release);
    }
    ask_kernel();
    lost
}

/// The processor's counter can be read again, or still.
pub fn regain_counter() {
    if CLOCK.load(Ordering::Relaxed) == MADE {
        CLOCK.store(Clock::Counter as u32, Ordering::Release);
    }
}

/// What a tick is, once it was decided.
#[must_use]
pub fn unit() -> u32 {
    UNIT.load(Ordering::Relaxed)
}

/// The kernel's clock ticks since boot, in which `/proc` says when a process was started.
#[must_use]
pub fn since_boot() -> u64 {
    /// Nanoseconds of a tick of `USER_HZ`, which is 100 on every processor we know.
    const TICK: u64 = 10_000_000;
    clock(libc::CLOCK_BOOTTIME).unwrap_or(0) / TICK
}

/// Nanoseconds of CLOCK_REALTIME; 0 where the process has forbidden itself to ask.
#[must_use]
pub fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// Nanoseconds of CLOCK_MONOTONIC; 0 where the process has forbidden itself to ask.
#[must_use]
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

fn clock(id: libc::clockid_t) -> Option<u64> {
    if BY_CALL.load(Ordering::Relaxed) != 0 {
        return sys::clock(id).ok();
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the buffer is the caller's; this clock always exists, so errno stays.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    let seconds = time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000);
    Some(seconds.wrapping_add(time.tv_nsec.cast_unsigned()))
}

/// A moment in both units, taken close together.
#[must_use]
pub fn pair() -> (u64, u64) {
    let before = now();
    let time = realtime();
    let after = now();
    (before.wrapping_add(after.wrapping_sub(before) / 2), time)
}

/// A moment that lies a little back, in both units.
#[must_use]
pub fn pair_at(ticks: u64) -> (u64, u64) {
    let now = pair();
    let ago = now.0.saturating_sub(ticks);
    // Spans lie far below 2^53.
    let ago = (ago as f64 * rate((ORIGIN.ticks(), ORIGIN.time()), now)) as u64;
    (ticks, now.1.saturating_sub(ago))
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
    if UNIT.load(Ordering::Relaxed) == Clock::Nanoseconds as u32 {
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
