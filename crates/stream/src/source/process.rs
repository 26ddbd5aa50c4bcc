//! Whether the process that a segment belongs to still lives.

use std::fs;

use netra_event::segment::{State, View};

/// What is known about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs, and its segment may still grow.
    Running,
    /// It is gone, or has become another image: nothing more will come.
    Over,
    /// It ran on another host, where nobody here can look.
    Elsewhere,
}

impl Life {
    /// Looks for the process of a segment.
    #[must_use]
    pub fn of(view: &View<'_>) -> Life {
        let here = rustix::system::uname();
        let on_this_host = view.host().is_empty() || view.host() == here.nodename().to_bytes();
        match view.state() {
            Some(State::Exec) => Life::Over,
            _ if !on_this_host => Life::Elsewhere,
            _ if runs(view.pid(), view.process_start()) => Life::Running,
            _ => Life::Over,
        }
    }
}

/// Whether a process with this number runs that had begun by this tick of the kernel's clock; numbers
/// are used again.
fn runs(pid: u32, start: u64) -> bool {
    let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else { return false };
    match state_and_start(&stat) {
        // Nobody has collected its exit code yet, but it writes no more.
        Some((b'Z' | b'X' | b'x', _)) => false,
        Some((_, found)) => start == 0 || found <= start,
        None => false,
    }
}

/// The third and the twenty-second field; the second is a name in brackets that may hold anything.
fn state_and_start(stat: &[u8]) -> Option<(u8, u64)> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields =
        stat.get(name_end + 1..)?.split(|&byte| byte == b' ').filter(|f| !f.is_empty());
    let state = *fields.next()?.first()?;
    let start = std::str::from_utf8(fields.nth(18)?).ok()?.trim().parse().ok()?;
    Some((state, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let stat = b"7 (a) b (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";
        assert_eq!(state_and_start(stat), Some((b'S', 4711)));
        assert_eq!(state_and_start(b"7 (a) S 1 2"), None);
        assert_eq!(state_and_start(b""), None);
    }

    #[test]
    fn this_process_runs_and_another_with_its_number_does_not() {
        let stat = fs::read("/proc/self/stat").unwrap();
        let (_, start) = state_and_start(&stat).unwrap();
        let pid = std::process::id();
        assert!(runs(pid, start) && runs(pid, 0));
        assert!(runs(pid, start + 1) && !runs(pid, start - 1));
        assert!(!runs(u32::MAX, start));
    }
}
