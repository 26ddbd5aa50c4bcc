//! The processor's counter, whose ticks events carry: read here so that a daemon can add its own
//! pair of ticks and time to those that a process took at its start.
#![expect(unsafe_code, reason = "reading the counter is one instruction that has no safe name")]

use netra_event::segment::Clock;
use rustix::time::{ClockId, clock_gettime};

/// A moment in ticks of this clock and by the daemon's clock, taken close together.
#[must_use]
pub(crate) fn pair(clock: Clock, daemon: &crate::clock::Clock) -> (u64, u64) {
    let before = now(clock);
    let time = daemon.now();
    let after = now(clock);
    (before.wrapping_add(after.wrapping_sub(before) / 2), time)
}

fn now(clock: Clock) -> u64 {
    match clock {
        Clock::Counter => counter(),
        Clock::Nanoseconds => nanoseconds(ClockId::Monotonic),
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000);
    seconds.wrapping_add(time.tv_nsec.cast_unsigned())
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and nothing forbids it to us: the process
    // whose ticks these are uses it too.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: the virtual counter may be read by everybody; it changes no memory and no flags.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_time_go_on() {
        for clock in [Clock::Counter, Clock::Nanoseconds] {
            let daemon = crate::clock::Clock::default();
            let (first, second) = (pair(clock, &daemon), pair(clock, &daemon));
            assert!(second.0 > first.0 && first.1 > 1_700_000_000_000_000_000);
        }
    }
}
