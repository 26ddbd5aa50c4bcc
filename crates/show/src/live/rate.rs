//! What a job moves lately: bytes and calls a second, as lists and terminals show it.

use super::series::Series;
use super::step::{Step, Way};

/// Seconds over which rates are taken.
const LATELY: u64 = 5;
const SECOND: u64 = 1_000_000_000;
/// Nanoseconds that events may be on their way: a second that has just ended is not whole yet.
const ON_THE_WAY: u64 = SECOND;

/// Of the lowest layers, a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Bytes read.
    pub read: f64,
    /// Bytes written.
    pub written: f64,
    /// Calls of all ways.
    pub calls: f64,
}

impl Rates {
    /// Of the steps that are over and whose events have come, and not of a time before the job began; times are nanoseconds since
    /// 1970.
    #[must_use]
    pub fn of(series: &Series<Step>, start: u64, now: u64) -> Rates {
        let width = series.width();
        let step = |nanos: u64| nanos / SECOND / width * width;
        let until = step(now.saturating_sub(ON_THE_WAY));
        let span = LATELY.max(2 * width).next_multiple_of(width);
        let from = until.saturating_sub(span).max(step(start));
        let seconds = until.saturating_sub(from);
        if seconds == 0 {
            return Rates::default();
        }
        let (mut read, mut written, mut calls) = (0, 0, 0);
        for (_, step) in series.iter().filter(|(at, _)| (from..until).contains(at)) {
            read += step.cells.lowest(Way::Read).bytes;
            written += step.cells.lowest(Way::Write).bytes;
            calls += Way::ALL.iter().map(|&way| step.cells.lowest(way).calls).sum::<u64>();
        }
        let each = |sum: u64| sum as f64 / seconds as f64;
        Rates { read: each(read), written: each(written), calls: each(calls) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand bytes in ten calls in each of these seconds.
    fn steady(seconds: std::ops::Range<u64>, most: usize) -> Series<Step> {
        let mut series = Series::<Step>::new(most);
        for second in seconds {
            let cell = &mut series.at(second, 1).cells.0[0][Way::Write as usize];
            (cell.calls, cell.bytes) = (cell.calls + 10, cell.bytes + 1000);
        }
        series
    }

    #[track_caller]
    fn check(series: &Series<Step>, now: u64, written: f64, calls: f64) {
        let found = Rates::of(series, 100 * SECOND, now);
        assert_eq!(found, Rates { read: 0.0, written, calls });
    }

    #[test]
    fn the_second_that_runs_and_the_one_whose_events_still_come_count_not() {
        let mut series = steady(100..119, 4096);
        series.at(119, 1).cells.0[0][Way::Write as usize].bytes = 3;
        check(&series, 120 * SECOND + 7, 1000.0, 10.0);
    }

    #[test]
    fn a_young_job_has_its_own_rates() {
        check(&steady(100..104, 4096), 103 * SECOND, 1000.0, 10.0);
        check(&steady(100..101, 4096), 101 * SECOND, 0.0, 0.0);
    }

    #[test]
    fn long_steps_count_when_they_are_over() {
        let series = steady(100..118, 8);
        assert_eq!(series.width(), 4);
        check(&series, 119 * SECOND, 1000.0, 10.0);
    }

    #[test]
    fn who_does_nothing_has_no_rates() {
        check(&steady(100..110, 4096), 200 * SECOND, 0.0, 0.0);
    }
}
