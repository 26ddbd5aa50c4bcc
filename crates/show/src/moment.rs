//! Points in time as people type them: seconds since a job began, times of day, dates, and so long ago.

use std::str::FromStr;

use jiff::civil::{DateTime, Time};
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use crate::time::here;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// How the forms are told.
const FORMS: &str = "seconds since the job began (2.5, 90s, 2min), so long ago (-30s, -7d), \
    a time of day (10:00), a date (2026-11-16) or both (2026-11-16T10:00, with a zone or in yours)";

/// A point in time that is not yet known, because a job or today is needed for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// So many seconds after the job began.
    After(f64),
    /// So many seconds before the end of the job, or before now.
    Ago(f64),
    /// At this time of the day on which the job began, or of the last day.
    Clock(Time),
    /// Nanoseconds since 1970, UTC.
    At(i64),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let wrong = || format!("{text:?} is no point in time: {FORMS}");
        let text = text.trim();
        if let Some(seconds) = seconds(text.trim_start_matches(['-', '+'])) {
            return Ok(if text.starts_with('-') {
                Moment::Ago(seconds)
            } else {
                Moment::After(seconds)
            });
        }
        if text == "now" {
            return Ok(Moment::Ago(0.0));
        }
        if let Ok(at) = text.parse::<Timestamp>() {
            return nanos(at).ok_or_else(wrong);
        }
        if text.contains(':')
            && !text.contains(['-', 'T', 't'])
            && let Ok(time) = text.parse::<Time>()
        {
            return Ok(Moment::Clock(time));
        }
        let day = |back: i64| today().checked_sub(back.days()).ok().map(|day| day.start_of_day());
        let local = match text {
            "today" => day(0).and_then(Result::ok).map(|day| day.timestamp()),
            "yesterday" => day(1).and_then(Result::ok).map(|day| day.timestamp()),
            _ => text
                .parse::<DateTime>()
                .ok()
                .and_then(|time| time.to_zoned(here().clone()).ok())
                .map(|time| time.timestamp()),
        };
        local.and_then(nanos).ok_or_else(wrong)
    }
}

impl Moment {
    /// The point for a job that began and ended then; all in nanoseconds since 1970, UTC.
    #[must_use]
    pub fn of_job(self, began: i64, ended: i64) -> i64 {
        match self {
            Moment::After(seconds) => began.saturating_add((seconds * SECOND).round() as i64),
            Moment::Ago(seconds) => ended.saturating_sub((seconds * SECOND).round() as i64),
            // Jobs run over midnight.
            Moment::Clock(time) => clock(began, time, |at| at < began, 1),
            Moment::At(at) => at,
        }
    }

    /// The point seen from now, where there is no job; nothing for seconds since one began.
    #[must_use]
    pub fn of_now(self, now: i64) -> Option<i64> {
        match self {
            Moment::After(_) => None,
            // What is still to come today was meant of yesterday.
            Moment::Clock(time) => Some(clock(now, time, |at| at > now, -1)),
            Moment::Ago(_) | Moment::At(_) => Some(self.of_job(now, now)),
        }
    }
}

/// That time on a point's own day, or on the next one in a direction where the first will not do.
fn clock(near: i64, time: Time, wrong: impl Fn(i64) -> bool, days: i64) -> i64 {
    let day =
        Timestamp::from_nanosecond(i128::from(near)).ok().map(|at| at.to_zoned(here().clone()));
    let on = |days: i64| {
        let date = day.as_ref()?.date().checked_add(days.days()).ok()?;
        let at = date.to_datetime(time).to_zoned(here().clone()).ok()?;
        i64::try_from(at.timestamp().as_nanosecond()).ok()
    };
    match on(0) {
        Some(at) if !wrong(at) => at,
        _ => on(days).unwrap_or(near),
    }
}

fn today() -> jiff::Zoned {
    Timestamp::now().to_zoned(here().clone())
}

fn nanos(at: Timestamp) -> Option<Moment> {
    i64::try_from(at.as_nanosecond()).ok().map(Moment::At)
}

/// A number of seconds: bare, or with a unit.
fn seconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(number * factor)
}

/// A point as SQL and people read it, in UTC to the microsecond.
#[must_use]
pub fn utc(nanos: i64) -> String {
    let point = SignedDuration::from_micros(nanos.div_euclid(1_000));
    match Timestamp::from_duration(point) {
        Ok(time) => format!("{time:.6}"),
        Err(_) => "9999-12-31T23:59:59Z".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16T09:30:00Z.
    const BEGAN: i64 = 1_794_821_400_000_000_000;
    const ENDED: i64 = BEGAN + 60_000_000_000;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let moment: Moment = text.parse().unwrap();
        assert_eq!(utc(moment.of_job(BEGAN, ENDED)), want, "{text}");
    }

    #[test]
    fn seconds_and_times_ago_are_those_of_the_job() {
        check("2.5", "2026-11-16T09:30:02.500000Z");
        check("90s", "2026-11-16T09:31:30.000000Z");
        check("250ms", "2026-11-16T09:30:00.250000Z");
        check("-30s", "2026-11-16T09:30:30.000000Z");
        check("now", "2026-11-16T09:31:00.000000Z");
    }

    #[test]
    fn dates_and_times_with_a_zone_stand_for_themselves() {
        check("2026-11-16T08:00:00+01:00", "2026-11-16T07:00:00.000000Z");
        check("2026-11-16T08:00:00Z", "2026-11-16T08:00:00.000000Z");
        check("2026-11-16 08:00Z", "2026-11-16T08:00:00.000000Z");
    }

    #[test]
    fn a_time_of_day_is_the_next_one_in_a_job_and_the_last_one_before_now() {
        let noon = Moment::Clock(Time::constant(12, 0, 0, 0));
        let in_job = noon.of_job(BEGAN, ENDED);
        assert!((BEGAN..BEGAN + 86_400_000_000_000).contains(&in_job));
        let before = noon.of_now(BEGAN).unwrap();
        assert!((BEGAN - 86_400_000_000_000..=BEGAN).contains(&before));
    }

    #[test]
    fn without_a_job_there_are_no_seconds_since_it_began() {
        assert_eq!("2.5".parse::<Moment>().unwrap().of_now(BEGAN), None);
        let week = "-7d".parse::<Moment>().unwrap().of_now(BEGAN).unwrap();
        assert_eq!(utc(week), "2026-11-09T09:30:00.000000Z");
    }

    #[test]
    fn what_is_no_point_in_time_is_told_the_forms() {
        for wrong in ["", "soon", "10:99", "2026-13-01", "-", "1.2.3", "5 parsecs"] {
            let error = wrong.parse::<Moment>().unwrap_err();
            assert!(error.contains("is no point in time: seconds since the job began"), "{error}");
        }
    }
}
