//! Whether the process that a segment, or an entry of a roll, belongs to still lives. Numbers are used again and mean
//! something in one PID namespace only; a number, its namespace and the exact tick of the start are one process.

use std::fs;
use std::path::Path;

use netra_event::segment::{State, View};

/// What is known about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs, and its segment may still grow.
    Running,
    /// It is gone, or has become another image: nothing more will come.
    Over,
    /// It ran on another host, or in a namespace that is not seen from here: nobody here can look.
    Elsewhere,
}

impl Life {
    /// Looks for the process of a segment.
    #[must_use]
    pub fn of(view: &View<'_>) -> Life {
        if view.state() == Some(State::Exec) {
            return Life::Over;
        }
        if !is_here(view.host()) {
            return Life::Elsewhere;
        }
        match (view.started(), view.namespace()) {
            (Some(start), namespace) => {
                Process { pid: view.pid(), namespace: namespace.unwrap_or(0), start }.life()
            }
            // A segment of an earlier version, or of a process that saw no /proc.
            (None, _) if runs_since(view.pid(), view.process_start()) => Life::Running,
            (None, _) => Life::Over,
        }
    }
}

/// Whether a host's name is this one's; one that is not known is.
pub(super) fn is_here(host: &[u8]) -> bool {
    host.is_empty() || host == rustix::system::uname().nodename().to_bytes()
}

/// A process, which no other one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number in its namespace.
    pub pid: u32,
    /// The inode of the namespace, 0 if it is not known.
    pub namespace: u64,
    /// Field 22 of its `stat`.
    pub start: u64,
}

/// The inode of the namespace that a host begins with, the same on every Linux.
const FIRST: u64 = 0xEFFF_FFFC;

impl Process {
    /// Whether it lives.
    #[must_use]
    pub fn life(&self) -> Life {
        let own = namespace();
        match self.find() {
            Some(_) => Life::Running,
            // From within a container only what began there is seen.
            None if self.namespace != 0 && self.namespace != own && own != FIRST => Life::Elsewhere,
            None => Life::Over,
        }
    }

    /// Its number here, while it runs.
    #[must_use]
    pub fn find(&self) -> Option<u32> {
        if self.namespace == 0 || self.namespace == namespace() {
            return began(self.pid).is_some_and(|start| start == self.start).then_some(self.pid);
        }
        numbers().find(|&pid| began(pid) == Some(self.start) && inner(pid) == Some(self.pid))
    }
}

/// The inode of our own PID namespace.
fn namespace() -> u64 {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let link = link.to_string_lossy();
    let number = link.strip_prefix("pid:[").and_then(|rest| rest.strip_suffix(']'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// All processes that are seen from here.
pub(super) fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When a process was started, while it runs.
#[must_use]
pub fn began(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    match state_and_start(&stat)? {
        // Nobody has collected its exit code yet, but it writes no more.
        (b'Z' | b'X' | b'x', _) => None,
        (_, start) => Some(start),
    }
}

/// A process's number in the innermost of its namespaces.
fn inner(pid: u32) -> Option<u32> {
    let status =
        fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}

/// Whether a process with this number runs that had begun by this tick of the kernel's clock.
fn runs_since(pid: u32, start: u64) -> bool {
    began(pid).is_some_and(|found| start == 0 || found <= start)
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
        let pid = std::process::id();
        let start = began(pid).unwrap();
        assert!(runs_since(pid, start) && runs_since(pid, 0));
        assert!(runs_since(pid, start + 1) && !runs_since(pid, start - 1));
        assert!(!runs_since(u32::MAX, start));
        let own = Process { pid, namespace: namespace(), start };
        assert_eq!(own.life(), Life::Running);
        // Started later or earlier, it is another one: also one that is older.
        assert_eq!(Process { start: start + 1, ..own }.life(), Life::Over);
        assert_eq!(Process { start: start - 1, ..own }.life(), Life::Over);
    }

    #[test]
    fn a_number_of_another_namespace_is_not_taken_for_one_of_ours() {
        let pid = std::process::id();
        let start = began(pid).unwrap();
        // Our number in no namespace but ours: the innermost number is compared, and the tick.
        let stranger = Process { pid: 1, namespace: 1, start: start + 1 };
        assert_eq!(stranger.find(), None);
        let inside = Process { pid: inner(pid).unwrap(), namespace: 1, start };
        assert_eq!(inside.find(), Some(pid), "seen from outside of its namespace");
    }
}
