//! The rolls of a job: who said that he is there, and who was said to be. Held against the parts that were found,
//! they are the one answer to how many processes there were and who of them is not recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use netra_darshan::section::Attendance;
use netra_event::roll::{Absence, BYTES, Entry, FILE, Kind, MAGIC};

use super::Piece;
use super::process::{self, Life, Process};

/// Bytes of a roll that are read: a job of a million processes a host.
const MOST: u64 = (BYTES as u64) << 21;

/// All rolls of a job.
#[derive(Debug, Clone, Default)]
pub struct Roll {
    /// By host and process.
    members: BTreeMap<(Vec<u8>, Process), Member>,
    /// Users that processes went on as.
    users: BTreeSet<u32>,
    /// Processes that run and belong to the job, though no roll has them.
    others: u64,
}

/// What is known of one process.
#[derive(Debug, Clone, Default)]
struct Member {
    /// Programs that were not recorded, with reasons; the last may be taken back.
    absent: Vec<(Absence, String)>,
    /// Starts of its recordings, with the segments' paths.
    recordings: Vec<(u64, PathBuf)>,
    /// Its program.
    program: String,
    /// Whether a recorded image of it began, or was set up.
    has_us: bool,
    uid: u32,
    rank: Option<u32>,
}

impl Roll {
    /// Reads the rolls in a job's folder.
    #[must_use]
    pub fn read(folder: &Path) -> Roll {
        let mut roll = Roll::default();
        let mut names: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        for name in names {
            let Some(host) = name.as_bytes().strip_prefix(FILE.as_bytes()) else { continue };
            let mut bytes = Vec::new();
            let file = fs::File::open(folder.join(&name));
            if file.is_ok_and(|file| file.take(MOST).read_to_end(&mut bytes).is_ok()) {
                roll.take(host, &bytes);
            }
        }
        roll
    }

    /// Reads one host's. What is no entry, as one that a full disk cut off, is passed over.
    fn take(&mut self, host: &[u8], mut bytes: &[u8]) {
        while let Some(first) = bytes.first_chunk::<BYTES>() {
            match Entry::decode(first) {
                Some(entry) => {
                    self.enter(host, &entry);
                    bytes = &bytes[BYTES..];
                }
                None => {
                    let next = bytes[1..].windows(MAGIC.len()).position(|part| part == MAGIC);
                    bytes = next.map_or(&[], |at| &bytes[1 + at..]);
                }
            }
        }
    }

    fn enter(&mut self, host: &[u8], entry: &Entry<'_>) {
        let process = Process { pid: entry.pid, namespace: entry.namespace, start: entry.start };
        let member = self.members.entry((host.to_vec(), process)).or_default();
        member.uid = entry.uid;
        member.rank = entry.rank_plus_one.checked_sub(1).or(member.rank);
        let name = || String::from_utf8_lossy(entry.name).into_owned();
        let why = || Absence::from_code(entry.why).unwrap_or(Absence::Unknown);
        match entry.kind {
            Kind::Began => {
                member.has_us = true;
                member.program = name();
            }
            Kind::SetUp => {
                member.has_us = true;
                let path = PathBuf::from(OsStr::from_bytes(entry.name));
                member.recordings.push((entry.time, path));
            }
            Kind::Out | Kind::Passed => member.absent.push((why(), name())),
            Kind::Undone => drop(member.absent.pop()),
            Kind::User => {
                self.users.insert(entry.uid);
            }
        }
    }

    /// Adds why a process of this host is not recorded, as whoever started it knows.
    pub fn call_out(&mut self, pid: u32, why: Absence, program: &str) {
        let own = host();
        let known = self.members.keys().find(|(host, process)| *host == own && process.pid == pid);
        let nobody = || (own.clone(), Process { pid, namespace: 0, start: 0 });
        let key = known.cloned().unwrap_or_else(nobody);
        self.members.entry(key).or_default().absent.push((why, program.to_owned()));
    }

    /// Folders in which processes of this host said that their segments lie.
    #[must_use]
    pub fn folders(&self) -> BTreeSet<PathBuf> {
        let here = self.members.iter().filter(|((host, _), _)| process::is_here(host));
        let paths = here.flat_map(|(_, member)| &member.recordings).map(|(_, path)| path);
        // A name that was too long has lost its beginning.
        paths
            .filter(|path| path.is_absolute())
            .filter_map(|path| path.parent())
            .map(Path::to_owned)
            .collect()
    }

    /// Users that processes of the job went on as.
    #[must_use]
    pub fn users(&self) -> &BTreeSet<u32> {
        &self.users
    }

    /// Whether nobody is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Processes of this host that run, by their number here: those of the roll that are recorded, and all that were
    /// given `variable` (`NAME=value`) in their environment and are not older than `since`.
    #[must_use]
    pub fn running(&self, variable: &[u8], since: u64) -> BTreeSet<u32> {
        let here = self.members.iter().filter(|((host, _), _)| process::is_here(host));
        // Without its start a process cannot be told from a later one of its number.
        let known = here.filter(|((_, process), member)| process.start != 0 && member.has_us);
        let mut running: BTreeSet<u32> =
            known.filter_map(|((_, process), _)| process.find()).collect();
        for pid in process::numbers() {
            if process::began(pid).is_some_and(|start| start >= since)
                && pid != std::process::id()
                && given(pid, variable)
            {
                running.insert(pid);
            }
        }
        running
    }

    /// Says how many of them, whom no roll has, still run at the end.
    pub fn with_running(&mut self, running: &BTreeSet<u32>) {
        let here = self.members.keys().filter(|(host, _)| process::is_here(host));
        let known: BTreeSet<u32> = here.filter_map(|(_, process)| process.find()).collect();
        self.others = running.difference(&known).count() as u64;
    }

    /// Who there was, and who of them is not among the parts that were found.
    #[must_use]
    pub fn attendance(&self, pieces: &[Piece]) -> Attendance {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut attendance = Attendance::default();
        let mut parts: BTreeMap<(&[u8], u32), Vec<&Piece>> = BTreeMap::new();
        for piece in pieces {
            parts.entry((&piece.host, piece.pid)).or_default().push(piece);
        }
        for ((host, process), member) in &self.members {
            let entry = attendance.hosts.entry(text(host)).or_default();
            entry.started += 1;
            let own: Vec<&Piece> = match parts.get_mut(&(host.as_slice(), process.pid)) {
                Some(all) => all.extract_if(.., |piece| member.is_of(process, piece)).collect(),
                None => Vec::new(),
            };
            if let Some((why, program)) = member.missing(host, process, &own) {
                entry.miss(why, program);
            }
        }
        // Whoever is on no roll: its file system has none, or it began where nobody called one.
        for ((host, _), rest) in parts {
            let of = |piece: &&Piece| piece.started.unwrap_or(piece.start.0);
            let processes: BTreeSet<u64> = rest.iter().map(of).collect();
            if !processes.is_empty() {
                attendance.hosts.entry(text(host)).or_default().started += processes.len() as u64;
            }
        }
        if self.others > 0 {
            let here = attendance.hosts.entry(text(&host())).or_default();
            here.started += self.others;
            (0..self.others).for_each(|_| here.miss(Absence::Running, ""));
        }
        self.ranks(pieces, &mut attendance);
        attendance
    }

    /// Ranks that MPI says there are and of whom nobody has heard. A launcher's word is not taken: a scheduler gives
    /// it to programs without MPI too.
    fn ranks(&self, pieces: &[Piece], attendance: &mut Attendance) {
        let told = pieces.iter().filter(|piece| piece.from_mpi);
        let Some(ranks) = told.filter_map(|piece| piece.nprocs).max() else { return };
        let called = self.members.values().filter_map(|member| member.rank);
        let seen: BTreeSet<u32> =
            pieces.iter().filter_map(|piece| piece.rank).chain(called).collect();
        let unseen = u64::from(ranks).saturating_sub(seen.range(..ranks).count() as u64);
        if unseen > 0 {
            let nowhere = attendance.hosts.entry(String::new()).or_default();
            nowhere.started += unseen;
            nowhere.absent.entry(Absence::Unseen).or_default().count += unseen;
        }
    }
}

/// This host's name.
fn host() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// Whether a process was given a variable when its program began.
fn given(pid: u32, variable: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|one| one == variable)
}

impl Member {
    /// Whether a part is this process's.
    fn is_of(&self, process: &Process, piece: &Piece) -> bool {
        let same = piece.started == Some(process.start)
            && piece.namespace.unwrap_or(0) == process.namespace;
        same || self.recordings.iter().any(|(start, _)| *start == piece.start.0)
    }

    /// Why it is not recorded, or not to its end, and the program.
    fn missing(&self, host: &[u8], process: &Process, own: &[&Piece]) -> Option<(Absence, &str)> {
        let wanted = self.absent.iter().find(|(why, _)| !why.is_wished());
        if let Some((why, program)) = wanted.or(self.absent.first()) {
            return Some((*why, program));
        }
        let is_here = process::is_here(host);
        let there = |start: u64| own.iter().any(|piece| piece.start.0 == start);
        let lost = self.recordings.iter().any(|(start, _)| !there(*start));
        let why = if is_here && process.start != 0 && process.life() == Life::Running {
            Absence::Running
        } else if !lost {
            return None;
        } else if !is_here {
            Absence::Host
        } else if self.uid != rustix::process::geteuid().as_raw() {
            Absence::User
        } else {
            Absence::Killed
        };
        Some((why, &self.program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: &[u8] = b"no.such.host";

    fn entry(kind: Kind, pid: u32, name: &[u8]) -> Entry<'_> {
        Entry {
            kind,
            why: 0,
            pid,
            parent: 1,
            uid: rustix::process::geteuid().as_raw(),
            rank_plus_one: 0,
            nprocs: 0,
            namespace: 7,
            start: u64::MAX,
            time: 5,
            name,
        }
    }

    fn said(host: &[u8], entries: &[Entry<'_>]) -> Attendance {
        let mut roll = Roll::default();
        let bytes: Vec<u8> = entries.iter().flat_map(Entry::encode).collect();
        roll.take(host, &bytes);
        roll.attendance(&[])
    }

    #[test]
    fn who_began_and_had_nothing_to_record_is_recorded() {
        let found = said(&host(), &[entry(Kind::Began, 1, b"/a"), entry(Kind::Began, 2, b"/b")]);
        assert_eq!((found.started(), found.recorded(), found.is_complete()), (2, 2, true));
    }

    #[test]
    fn a_part_that_is_not_there_is_missed_with_a_reason() {
        let all = [entry(Kind::Began, 1, b"/a"), entry(Kind::SetUp, 1, b"/tmp/x/1.segment")];
        let reason = |host: &[u8], all: &[Entry<'_>]| said(host, all).absent().into_keys().next();
        assert_eq!(reason(&host(), &all), Some(Absence::Killed));
        assert_eq!(reason(FAR, &all), Some(Absence::Host));
        let mut other = all;
        other[1].uid = other[1].uid.wrapping_add(1);
        assert_eq!(reason(&host(), &other), Some(Absence::User));
    }

    #[test]
    fn what_was_started_without_us_is_missed_unless_it_did_not_come_about() {
        let passed =
            Entry { why: Absence::Static as u32, ..entry(Kind::Passed, 2, b"/bin/busybox") };
        let found = said(&host(), &[entry(Kind::Began, 1, b"/bin/sh"), passed]);
        assert_eq!(
            found.caveats(),
            ["1 of 2 processes is not recorded: statically linked (/bin/busybox)"]
        );
        let undone = [entry(Kind::Began, 2, b"/bin/sh"), passed, entry(Kind::Undone, 2, b"")];
        assert!(said(&host(), &undone).is_complete());
    }

    #[test]
    fn torn_entries_are_passed_over() {
        let mut roll = Roll::default();
        let whole = entry(Kind::Began, 1, b"/a").encode();
        let mut bytes = whole[..100].to_vec();
        bytes.extend(whole);
        bytes.extend(&whole[..50]);
        roll.take(b"h", &bytes);
        assert_eq!(roll.members.len(), 1);
        roll.take(b"h", b"NROLNROL");
        assert_eq!(roll.members.len(), 1);
    }

    #[test]
    fn this_process_runs_and_is_found_by_what_it_was_given() {
        let mut roll = Roll::default();
        let own = format!("/proc/{}/stat", std::process::id());
        assert!(fs::read(own).is_ok());
        // Nothing has this variable; what has none is nobody's.
        assert!(roll.running(b"NETRA_ROLL=/none/at/all", 0).is_empty());
        roll.with_running(&BTreeSet::new());
        assert!(roll.attendance(&[]).is_complete());
    }
}
