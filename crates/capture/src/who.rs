//! Which programs are recorded: those that `--only` names, without those that `--except` names; and unless they are
//! asked for, not those that give up rights or confine themselves as their very purpose. Such a program's children
//! are programs of their own.

use netra_event::roll::Absence;

use crate::settings::SETTINGS;

/// A program that is left out by default: by its name and, where only some of its processes confine themselves, by
/// what their arguments hold.
struct Row {
    program: &'static [u8],
    argument: &'static [u8],
}

const fn row(program: &'static [u8], argument: &'static [u8]) -> Row {
    Row { program, argument }
}

/// They begin with rights, or with a task, that they drop for good before they touch anything foreign: what they do
/// after that could not be recorded, and none of it is a job's I/O.
const DEFAULT: &[Row] = &[
    // Logins and what they start with another user's rights.
    row(b"sshd", b""),
    row(b"sshd-*", b""),
    row(b"login", b""),
    row(b"agetty", b""),
    row(b"cron", b""),
    row(b"crond", b""),
    row(b"munged", b""),
    // The system's own daemons.
    row(b"systemd", b""),
    row(b"systemd-*", b""),
    row(b"dbus-daemon", b""),
    row(b"dbus-broker*", b""),
    row(b"polkitd", b""),
    // Browsers: the processes that render and decode; the one that a person starts is recorded.
    row(b"chrom*", b"--type="),
    row(b"chrome*", b"--type="),
    row(b"electron*", b"--type="),
    row(b"QtWebEngineProcess", b""),
    row(b"WebKit*Process", b""),
    row(b"firefox*", b"-contentproc"),
];

/// Why a program of this path and these arguments is left out; nothing if it is recorded.
pub fn left_out(path: &[u8], arguments: &[u8]) -> Option<Absence> {
    let named = |list: &[u8]| {
        list.split(|&byte| byte == b':')
            .any(|pattern| !pattern.is_empty() && matches_program(pattern, path))
    };
    if named(SETTINGS.except()) {
        return Some(Absence::Chosen);
    }
    if !SETTINGS.only().is_empty() {
        return (!named(SETTINGS.only())).then_some(Absence::Chosen);
    }
    DEFAULT.iter().any(|row| row.is(path, arguments)).then_some(Absence::Default)
}

impl Row {
    fn is(&self, path: &[u8], arguments: &[u8]) -> bool {
        let holds =
            || arguments.windows(self.argument.len().max(1)).any(|part| part == self.argument);
        matches_program(self.program, path) && (self.argument.is_empty() || holds())
    }
}

/// A pattern with a slash is of the whole path, another one of the program's name.
fn matches_program(pattern: &[u8], path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    is_like(pattern, if pattern.contains(&b'/') { path } else { name })
}

/// Whether a text is like a pattern: `*` is any text, `?` any byte.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0_usize, 0_usize);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at = at.saturating_add(1);
            }
            Some(byte) if *byte == b'?' || Some(byte) == text.get(from) => {
                at = at.saturating_add(1);
                from = from.saturating_add(1);
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                let taken = taken.saturating_add(1);
                star = Some((place, taken));
                (at, from) = (place.saturating_add(1), taken);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_of_names_or_of_paths() {
        for (pattern, path, is) in [
            (&b"app"[..], &b"/x/app"[..], true),
            (b"app", b"/x/apple", false),
            (b"app*", b"/x/apple", true),
            (b"*", b"/x/apple", true),
            (b"a?p", b"/x/app", true),
            (b"/x/*", b"/x/y/app", true),
            (b"/x/*p", b"/x/y/apple", false),
            (b"*a*b*c", b"/aXXbXXbc", true),
            (b"*a*b*c", b"/aXXbXXb", false),
            (b"", b"/x/app", false),
        ] {
            assert_eq!(matches_program(pattern, path), is, "{pattern:?} {path:?}");
        }
    }

    #[test]
    fn programs_that_confine_themselves_are_left_out() {
        let default = Some(Absence::Default);
        assert_eq!(left_out(b"/usr/sbin/sshd", b"sshd: [accepted]"), default);
        assert_eq!(left_out(b"/usr/lib/chromium/chromium", b"chromium --type=zygote"), default);
        assert_eq!(left_out(b"/usr/lib/chromium/chromium", b"chromium http://x"), None);
        assert_eq!(left_out(b"/usr/bin/ssh", b"ssh host"), None);
    }
}
