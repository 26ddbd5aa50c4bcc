//! How far another machine's clock is ahead of ours, from round trips of small messages.
//!
//! Of one round trip is known when it was sent and came back by our clock, and what the other's clock said
//! in between; the other's clock is then ahead by something between the two extremes, whose distance is the
//! time of the round trip. The shortest trip says most. An older one says less every second, because
//! clocks drift; and when a new one contradicts what was believed, a clock was stepped, and only the new
//! one counts.

use std::collections::VecDeque;

/// Round trips that are remembered.
const REMEMBERED: usize = 16;
/// Nanoseconds that two clocks may drift apart in a second: 50 µs, as NTP's daemons assume of bad ones.
const DRIFT: u64 = 50_000;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A round trip, all times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trip {
    /// When it was sent, by our clock.
    pub sent: u64,
    /// What the other's clock said when it was there.
    pub there: u64,
    /// When it was back, by our clock.
    pub back: u64,
}

/// What is believed of the other's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// Nanoseconds that it is ahead of ours; negative if it is behind.
    pub ahead: i64,
    /// How wrong that may be, in either direction.
    pub error: u64,
}

impl Offset {
    /// What one round trip tells; nothing if it came back before it was sent.
    fn of(trip: &Trip) -> Option<Offset> {
        let length = trip.back.checked_sub(trip.sent)?;
        let middle = trip.sent.saturating_add(length / 2);
        let ahead = i64::try_from(i128::from(trip.there) - i128::from(middle)).ok()?;
        // Half a nanosecond was cut off above.
        Some(Offset { ahead, error: length.div_ceil(2) })
    }

    /// Whether both can be true.
    fn agrees(&self, other: &Offset) -> bool {
        self.ahead.abs_diff(other.ahead) <= self.error.saturating_add(other.error)
    }
}

/// Round trips, and what they tell together.
#[derive(Debug, Clone, Default)]
pub struct Estimator {
    trips: VecDeque<(u64, Offset)>,
    steps: u64,
}

impl Estimator {
    /// Takes a round trip into account.
    pub fn add(&mut self, trip: &Trip) {
        let Some(new) = Offset::of(trip) else { return };
        if self.at(trip.back).is_some_and(|believed| !believed.agrees(&new)) {
            self.trips.clear();
            self.steps += 1;
        }
        if self.trips.len() == REMEMBERED {
            self.trips.pop_front();
        }
        self.trips.push_back((trip.back, new));
    }

    /// What is believed at a moment of our clock; nothing before the first round trip.
    #[must_use]
    pub fn at(&self, now: u64) -> Option<Offset> {
        let aged = |&(when, offset): &(u64, Offset)| {
            let age = now.abs_diff(when);
            let drift = u128::from(age) * u128::from(DRIFT) / u128::from(SECOND);
            let drift = u64::try_from(drift).unwrap_or(u64::MAX);
            Offset { error: offset.error.saturating_add(drift), ..offset }
        };
        // Of equal ones the newest.
        self.trips.iter().rev().map(aged).min_by_key(|offset| offset.error)
    }

    /// How often a clock was stepped.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: u64 = 1_700_000_000 * SECOND;
    const STEP: i64 = 1_000_000_000;

    /// A trip that took so long there and back, to a clock that is so far ahead.
    fn trip(at: u64, there: u64, back: u64, ahead: i64) -> Trip {
        let sent = START + at;
        Trip { sent, there: (sent + there).saturating_add_signed(ahead), back: sent + there + back }
    }

    #[test]
    fn the_shortest_trip_says_most() {
        let mut estimator = Estimator::default();
        estimator.add(&trip(0, 5_000_000, 1_000_000, 700));
        assert_eq!(
            estimator.at(START + 6_000_000),
            Some(Offset { ahead: 2_000_700, error: 3_000_000 })
        );
        estimator.add(&trip(10_000_000, 1000, 1000, 700));
        assert_eq!(estimator.at(START + 10_002_000), Some(Offset { ahead: 700, error: 1000 }));
        estimator.add(&trip(20_000_000, 9000, 1000, 700));
        assert_eq!(estimator.at(START + 20_010_000).unwrap().ahead, 700);
    }

    #[test]
    fn an_old_trip_says_less() {
        let mut estimator = Estimator::default();
        estimator.add(&trip(0, 1000, 1000, 0));
        let later = estimator.at(START + 2000 + 10 * SECOND).unwrap();
        assert_eq!(later, Offset { ahead: 0, error: 1000 + 10 * DRIFT });
    }

    #[test]
    fn what_came_back_before_it_was_sent_tells_nothing() {
        let mut estimator = Estimator::default();
        estimator.add(&Trip { sent: 10, there: 5, back: 9 });
        assert_eq!(estimator.at(20), None);
        estimator.add(&Trip { sent: 0, there: u64::MAX, back: 2 });
        assert_eq!(estimator.at(20), None);
    }

    proptest! {
        /// Whatever the delays, and with clocks that drift apart no faster than believed, the truth lies
        /// within the error.
        #[test]
        fn the_truth_lies_within_the_error(
            ahead in -10 * STEP..10 * STEP,
            trips in prop::collection::vec((0_u64..5_000_000, 0_u64..5_000_000), 1..60),
            drift in -49_000_i64..49_000,
        ) {
            let mut estimator = Estimator::default();
            let mut now = 0;
            for (there, back) in trips {
                let moved = drift * i64::try_from(now / SECOND).unwrap();
                estimator.add(&trip(now, there, back, ahead + moved));
                let believed = estimator.at(START + now + there + back).unwrap();
                prop_assert!(believed.ahead.abs_diff(ahead + moved) <= believed.error);
                prop_assert_eq!(estimator.steps(), 0);
                now += SECOND;
            }
        }

        /// A step that is larger than any doubt is noticed at the next trip.
        #[test]
        fn a_step_is_noticed_at_once(
            before in 1_usize..30,
            step in prop_oneof![-3600 * STEP..-STEP, STEP..3600 * STEP],
            there in 0_u64..1_000_000,
            back in 0_u64..1_000_000,
        ) {
            let mut estimator = Estimator::default();
            for number in 0..before as u64 {
                estimator.add(&trip(number * SECOND, there, back, 5));
            }
            let now = before as u64 * SECOND;
            estimator.add(&trip(now, there, back, 5 + step));
            let believed = estimator.at(START + now + there + back).unwrap();
            prop_assert_eq!(estimator.steps(), 1);
            prop_assert!(believed.ahead.abs_diff(5 + step) <= believed.error);
        }
    }
}
