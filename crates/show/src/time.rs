//! Points in time: people get their own zone with its offset, machines get UTC nanoseconds.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::sync::OnceLock;

/// Local time with its offset, to the second: `2026-11-15 23:35:36 +01:00`.
pub(crate) fn local(seconds: i64) -> String {
    in_zone(seconds, here().clone())
}

/// The same with a part of a second, to so many digits: `2026-11-15 23:35:36.250 +01:00`.
#[cfg(feature = "store")]
pub(crate) fn local_with_part(seconds: i64, part: i64, digits: usize) -> String {
    with_part(&local(seconds), part, digits)
}

/// Puts a part of a second behind the seconds.
#[cfg(feature = "store")]
fn with_part(text: &str, part: i64, digits: usize) -> String {
    match text.rsplit_once(' ') {
        Some((time, zone)) if digits > 0 => format!("{time}.{part:0digits$} {zone}"),
        _ => text.to_owned(),
    }
}

/// Machines get nanoseconds since 1970 in UTC. What does not fit is cut off at the largest value.
pub(crate) fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// How far this machine's zone is ahead of UTC at a given second, in seconds.
#[must_use]
pub fn zone(second: i64) -> i64 {
    match Timestamp::from_second(second) {
        Ok(time) => i64::from(here().to_offset(time).seconds()),
        Err(_) => 0,
    }
}

/// This machine's zone. Its own file says all of it; the library would first walk the whole zone
/// data base to find its name, which costs a short command as much as reading a small log.
pub(crate) fn here() -> &'static TimeZone {
    static HERE: OnceLock<TimeZone> = OnceLock::new();
    HERE.get_or_init(|| match std::env::var_os("TZ") {
        Some(_) => TimeZone::system(),
        None => own_file().unwrap_or_else(TimeZone::system),
    })
}

fn own_file() -> Option<TimeZone> {
    TimeZone::tzif("local", &std::fs::read("/etc/localtime").ok()?).ok()
}

fn in_zone(seconds: i64, zone: TimeZone) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
        Err(_) => format!("{seconds} s after 1970, which is in no calendar"),
    }
}

#[cfg(test)]
mod tests {
    use super::{in_zone, nanos};
    use jiff::tz::{Offset, TimeZone};

    #[test]
    fn local_time_says_its_offset() {
        let zone = TimeZone::fixed(Offset::from_seconds(-(3 * 3600 + 1800)).unwrap());
        assert_eq!(in_zone(1_618_435_795, zone), "2021-04-14 17:59:55 -03:30");
        assert_eq!(in_zone(0, TimeZone::UTC), "1970-01-01 00:00:00 +00:00");
    }

    #[test]
    fn the_machines_own_file_gives_the_zone_that_the_library_finds() {
        let Some(own) = super::own_file() else {
            eprintln!("skipped: this machine has no /etc/localtime");
            return;
        };
        let found = TimeZone::system();
        for second in [0, 1_618_435_795, 1_793_000_000] {
            let time = jiff::Timestamp::from_second(second).unwrap();
            assert_eq!(own.to_offset(time), found.to_offset(time));
        }
    }

    #[test]
    fn a_time_from_a_damaged_log_is_still_shown() {
        assert_eq!(
            in_zone(i64::MAX, TimeZone::UTC),
            "9223372036854775807 s after 1970, which is in no calendar"
        );
        assert_eq!(nanos(i64::MAX, 5), i64::MAX);
    }
}
