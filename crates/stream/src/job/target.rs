//! Where a job's log goes: exactly somewhere, or into a folder under the convention of Darshan's
//! names.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use netra_event::jenkins64;

use crate::source::Piece;

/// Where a log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This file, which must not exist.
    File(PathBuf),
    /// Below this folder: a folder for the day, a name that says whose and which job it is.
    Folder(PathBuf),
    /// The same, under a name that the same pieces always get: whoever finds it there has written them before.
    Once(PathBuf),
}

/// What a log's name begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Name<'a> {
    /// The user.
    pub user: &'a str,
    /// The program, where it is known better than by the process that speaks for the job.
    pub program: Option<&'a str>,
}

impl Target {
    /// The folder that logs go to: what was asked for, else `$XDG_DATA_HOME/netra/logs`, else the
    /// same below the home.
    #[must_use]
    pub fn default_folder(xdg_data_home: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
        let data = xdg_data_home.filter(|path| path.is_absolute()).map(Path::to_owned);
        let data = data.or_else(|| home.map(|home| home.join(".local/share")));
        Some(data?.join("netra/logs"))
    }

    /// The folder of a log that begins today.
    #[must_use]
    pub fn today(&self) -> PathBuf {
        self.folder(u64::try_from(Timestamp::now().as_second()).unwrap_or(0))
    }

    fn folder(&self, now: u64) -> PathBuf {
        match self {
            Target::File(path) => path.parent().unwrap_or(Path::new("/")).to_owned(),
            Target::Folder(folder) | Target::Once(folder) => {
                folder.join(day(now).strftime("%Y/%m/%d").to_string())
            }
        }
    }

    /// The log's path.
    pub(super) fn path(&self, speaker: &Piece, begin: Name<'_>) -> PathBuf {
        let start = speaker.start.0;
        match self {
            Target::File(path) => path.clone(),
            // Of two that are written of the same pieces, both stay.
            Target::Folder(folder) => {
                folder.join(name(speaker, begin, start ^ u64::from(std::process::id())))
            }
            Target::Once(folder) => folder.join(name(speaker, begin, start)),
        }
    }
}

/// `YYYY/MM/DD/<user>_<program>_id<job>-<process>_<month>-<day>-<second>-<salt>_<1>.darshan`.
fn name(speaker: &Piece, Name { user, program: given }: Name<'_>, salt: u64) -> String {
    let time = day(speaker.start.0 / 1_000_000_000);
    let second_of_day =
        i32::from(time.hour()) * 3600 + i32::from(time.minute()) * 60 + i32::from(time.second());
    let program = program(given.map_or(&speaker.command, str::as_bytes));
    let host = jenkins64(&speaker.host, salt);
    format!(
        "{:04}/{:02}/{:02}/{user}_{program}_id{}-{}_{}-{}-{second_of_day}-{host}_1.darshan",
        time.year(),
        time.month(),
        time.day(),
        speaker.job_id,
        speaker.pid,
        time.month(),
        time.day(),
    )
}

/// A moment in UTC, as the library has it: one job's logs lie in one folder wherever its processes
/// think they are.
fn day(seconds: u64) -> Zoned {
    let seconds = i64::try_from(seconds).unwrap_or(0);
    Timestamp::from_second(seconds).unwrap_or_default().to_zoned(TimeZone::UTC)
}

/// The last part of the program's path; what a name can not hold is left out.
fn program(command: &[u8]) -> String {
    let word = command.split(|&byte| byte == b' ').next().unwrap_or_default();
    let last = word.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let plain = |c: &char| c.is_alphanumeric() || "._+-".contains(*c);
    let text: String = String::from_utf8_lossy(last).chars().filter(plain).take(64).collect();
    if text.is_empty() { "unknown".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_without_its_folder() {
        for (command, name) in [
            (&b"/usr/bin/python3 a.py"[..], "python3"),
            (b"./a.out", "a.out"),
            (b"", "unknown"),
            (b"a\nb;c d", "abc"),
        ] {
            assert_eq!(program(command), name);
        }
    }

    #[test]
    fn a_folder_is_that_of_the_day() {
        let folder = |target: Target| target.folder(1_794_787_200);
        assert_eq!(folder(Target::Folder("/d".into())), Path::new("/d/2026/11/16"));
        assert_eq!(folder(Target::File("/e/a.darshan".into())), Path::new("/e"));
    }

    #[test]
    fn logs_lie_below_the_data_home() {
        let folder = |xdg: Option<&str>, home: Option<&str>| {
            Target::default_folder(xdg.map(Path::new), home.map(Path::new))
        };
        assert_eq!(folder(Some("/d"), Some("/h")), Some("/d/netra/logs".into()));
        assert_eq!(folder(Some("d"), Some("/h")), Some("/h/.local/share/netra/logs".into()));
        assert_eq!(folder(None, None), None);
    }
}
