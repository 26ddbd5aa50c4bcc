//! Where the log goes and what it is called: Darshan's convention, in the place of netra's logs.
//! Dates are UTC: the time zone is a file of the C library's, which we do not read.

use netra_event::jenkins64;
use netra_event::segment::View;

use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys::{self, Descriptor, Refused};
use crate::text::Text;
use crate::time;

const DAY: u64 = 86_400;
/// Images of one process whose logs get names of their own beside the one that was given.
const IMAGES: u64 = 1000;
/// Ends the name of a log that is not complete.
pub(crate) const PARTIAL: &[u8] = b"_partial";

/// A log in the making: it has its name only when it is complete.
pub(crate) struct Target {
    file: Descriptor,
    partial: Text<LONGEST_PATH>,
    complete: Text<LONGEST_PATH>,
}

impl Target {
    /// Makes the directory and an empty file that says that it is not complete.
    pub(crate) fn create(view: &View<'_>) -> Result<Target, Refused> {
        let complete = path(view, SETTINGS.log_dir())?;
        let (made, complete) = match Target::open(&complete) {
            Err(Refused(libc::ENOENT)) => {
                let complete = match SETTINGS.log_dir_later() {
                    [] => complete,
                    later => path(view, later)?,
                };
                make_directories(&complete);
                (Target::open(&complete)?, complete)
            }
            opened => (opened?, complete),
        };
        let (file, partial) = made;
        Ok(Target { file, partial, complete })
    }

    /// Opens the file that becomes the log.
    fn open(complete: &Text<LONGEST_PATH>) -> Result<(Descriptor, Text<LONGEST_PATH>), Refused> {
        let mut partial = Text::copy(complete);
        partial.push(PARTIAL);
        let name = partial.path().ok_or(Refused(libc::ENAMETOOLONG))?;
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        // Once it is open it can be written, whatever its rights say to those who come later.
        Ok((sys::open(name, flags, 0o400)?, partial))
    }

    pub(crate) fn file(&self) -> &Descriptor {
        &self.file
    }

    /// The log is complete: it gets its name, and nobody changes it any more.
    pub(crate) fn keep(&mut self) -> Result<(), Refused> {
        let (Some(from), Some(to)) = (self.partial.path(), self.complete.path()) else {
            return Err(Refused(libc::ENAMETOOLONG));
        };
        sys::rename(from, to)
    }

    /// Where it is when it is complete.
    pub(crate) fn path(&self) -> Text<LONGEST_PATH> {
        Text::copy(&self.complete)
    }

    /// Where it is while it is not complete.
    pub(crate) fn partial(&self) -> &[u8] {
        self.partial.bytes()
    }

    /// There is no log after all.
    pub(crate) fn discard(&mut self) {
        if let Some(name) = self.partial.path() {
            // Left behind, its name says what it is.
            let _left = sys::remove(name);
        }
    }
}

/// The path of the log: given as a whole, in a directory that was given, or by date where the
/// user's data lies.
fn path(view: &View<'_>, folder: &[u8]) -> Result<Text<LONGEST_PATH>, Refused> {
    let mut path = Text::new();
    if !SETTINGS.log_file().is_empty() {
        path.push(SETTINGS.log_file());
        let given = path.bytes().len();
        // A child or a later image may not write over the log of another.
        for image in 1..IMAGES {
            if path.path().is_none_or(|path| sys::metadata(path).is_err()) {
                break;
            }
            path.truncate(given);
            path.push(b".").number(u64::from(view.pid()));
            if image > 1 {
                path.push(b".").number(image);
            }
        }
        return Ok(path);
    }
    let start = view.start().1 / 1_000_000_000;
    let (year, month, day) = date(start / DAY);
    if !folder.is_empty() {
        path.push(folder);
    } else if !SETTINGS.data_home().is_empty() {
        path.push(SETTINGS.data_home()).push(b"/netra/logs/").number(year);
        path.push(b"/").padded(month, 2).push(b"/").padded(day, 2);
    } else {
        return Err(Refused(libc::ENOENT));
    }
    path.push(b"/");
    name(view, (month, day, start % DAY), &mut path);
    Ok(path)
}

/// Makes the directories above a file; what cannot be made shows when the file is opened.
fn make_directories(path: &Text<LONGEST_PATH>) {
    let bytes = path.bytes();
    for end in (1..bytes.len()).filter(|&end| bytes.get(end) == Some(&b'/')) {
        let mut above = Text::copy(path);
        above.truncate(end);
        if let Some(above) = above.path() {
            let _there = sys::make_directory(above, 0o755);
        }
    }
}

/// `<user>_<exe>_id<jobid>-<pid>_<month>-<day>-<second of day>-<hash>_<seconds>.darshan`.
fn name(view: &View<'_>, (month, day, second): (u64, u64, u64), path: &mut Text<LONGEST_PATH>) {
    match SETTINGS.user() {
        [] => path.number(u64::from(sys::ask(libc::SYS_geteuid))),
        user => path.push(user),
    };
    let exe = view.exe();
    let short = exe.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    path.push(b"_").push(short.get(..short.len().min(64)).unwrap_or_default());
    path.push(b"_id").signed(view.job_id()).push(b"-").number(u64::from(view.pid()));
    path.push(b"_").number(month).push(b"-").number(day).push(b"-").number(second);
    let now = time::realtime();
    // As Darshan does: a hash of the host, seeded with the microsecond, keeps names apart.
    path.push(b"-").number(jenkins64(view.host(), now / 1_000));
    let ran = now.saturating_sub(view.start().1) / 1_000_000_000;
    path.push(b"_").number(ran.saturating_add(1)).push(b".darshan");
}

/// Year, month and day of a day since 1970 in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that a leap day ends a year; eras have 400 years.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let leaps = (day / 1_460).saturating_sub(day / 36_524).saturating_add(day / 146_096);
    let year = day.saturating_sub(leaps) / 365;
    let before = year.saturating_mul(365).saturating_add(year / 4).saturating_sub(year / 100);
    let day = day.saturating_sub(before);
    let month = day.saturating_mul(5).saturating_add(2) / 153;
    let first = month.saturating_mul(153).saturating_add(2) / 5;
    let (month, next) =
        if month < 10 { (month.saturating_add(3), 0) } else { (month.saturating_sub(9), 1) };
    let year = era.saturating_mul(400).saturating_add(year).saturating_add(next);
    (year, month, day.saturating_sub(first).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_453), (2025, 12, 31));
        assert_eq!(date(20_773), (2026, 11, 16));
    }
}
