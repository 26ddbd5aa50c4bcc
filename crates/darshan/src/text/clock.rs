//! Seconds since 1970 as C's `ctime` writes them.

/// `Wed Jun  2 22:43:18 2021`, for a time that is already local.
pub(super) fn ctime(local: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let weekday = DAYS[days.rem_euclid(7) as usize];
    let month = MONTHS[month as usize - 1];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
}

/// Year, month and day of a day since 1970, in a calendar whose years begin in March, so that the
/// leap day comes last.
fn date(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::ctime;

    #[test]
    fn writes_what_c_writes() {
        assert_eq!(ctime(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(ctime(-1), "Wed Dec 31 23:59:59 1969");
        assert_eq!(ctime(1_622_673_798), "Wed Jun  2 22:43:18 2021");
        assert_eq!(ctime(951_782_400), "Tue Feb 29 00:00:00 2000");
        assert_eq!(ctime(1_709_164_800), "Thu Feb 29 00:00:00 2024");
        assert_eq!(ctime(4_107_542_400), "Mon Mar  1 00:00:00 2100");
    }
}
