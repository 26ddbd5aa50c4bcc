//! The daemons' clock: the only place where they ask for the time, so that tests can step it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock time, with a step that a test can put in.
#[derive(Debug, Default)]
pub struct Clock {
    step: AtomicI64,
}

impl Clock {
    /// Nanoseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        now.saturating_add_signed(self.step.load(Ordering::Relaxed))
    }

    /// Steps the clock by so many nanoseconds, as an administrator might.
    pub fn step(&self, nanoseconds: i64) {
        self.step.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_step_is_seen() {
        let clock = Clock::default();
        let before = clock.now();
        clock.step(3_600_000_000_000);
        assert!(clock.now() - before >= 3_600_000_000_000);
    }
}
