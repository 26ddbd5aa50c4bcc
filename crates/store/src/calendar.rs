//! Days and moments as the tables' logs write them.

/// Microseconds of a day.
pub(crate) const DAY_US: i64 = 86_400_000_000;

/// Year, month and day of a day since 1970; after Howard Hinnant's public-domain `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months are counted from March, so that the leap day is the last of its year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day)
}

/// `2026-11-16`.
pub(crate) fn day(days: i32) -> String {
    let (year, month, day) = civil(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The day that such a text names.
pub(crate) fn parse_day(text: &str) -> Option<i32> {
    let mut parts = text.splitn(3, '-');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let (year, month, day_of_month) = (number()?, number()?, number()?);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month + 2) / 5 + day_of_month - 1;
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = i32::try_from(era * 146_097 + day_of_era - 719_468).ok()?;
    (day(days) == text).then_some(days)
}

/// The day of a moment in microseconds since 1970.
pub(crate) fn day_of(microseconds: i64) -> i32 {
    // 2^31 days are farther than microseconds reach.
    microseconds.div_euclid(DAY_US) as i32
}

/// `2026-11-16T05:40:00.000001Z`.
pub(crate) fn moment(microseconds: i64) -> String {
    let day = day(day_of(microseconds));
    let rest = microseconds.rem_euclid(DAY_US);
    let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The microseconds of such a text; digits behind the sixth of a second are cut off.
pub(crate) fn parse_moment(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.splitn(3, ':');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let (hour, minute, second) = (number()?, number()?, number()?);
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let seconds = hour * 3600 + minute * 60 + second;
    Some(i64::from(parse_day(date)?) * DAY_US + seconds * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_come_back() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(-1), "1969-12-31");
        assert_eq!(day(20_773), "2026-11-16");
        for days in (-700_000..800_000).step_by(37) {
            assert_eq!(parse_day(&day(days)), Some(days));
        }
        assert_eq!(parse_day("2026-02-30"), None);
        assert_eq!(moment(1), "1970-01-01T00:00:00.000001Z");
        assert_eq!(moment(-1), "1969-12-31T23:59:59.999999Z");
        for microseconds in [0, 1, -1, 1_794_807_600_123_456, -77_777_777_777] {
            assert_eq!(parse_moment(&moment(microseconds)), Some(microseconds));
        }
        assert_eq!(parse_moment("1970-01-01T00:00:01Z"), Some(1_000_000));
        assert_eq!(parse_moment("soon"), None);
    }
}
