//! One process, from when its segment is found until everything of it is in the spool.
//!
//! A look at it goes: the lanes' heads; the slots below them; then what those refer to (tables grow
//! before events refer to them, so reading them later is enough); into the spool the tables go first.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use netra_event::frame::{Kind, Producer};
use netra_event::segment::{CALIBRATIONS, Calibration, Clock, Header, LOGGED, Region, View};
use netra_event::{Loss, jenkins64};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::file::{Front, LANE_BYTES, SegmentFile};
use super::filter::Filter;
use super::lane::{Cursor, Row, Slots};
use super::table::{self, Progress};
use crate::batch::{Account, Image, LaneAccount, Part, Phase, Process, count_events};
use crate::frame::{self, Subject};
use crate::intake::{Error as Refused, Intake};
use crate::source::Life;
use crate::tick;
use crate::{Error, Result};

/// How soon a process is looked at again after something came of it.
const SOON: Duration = Duration::from_millis(3);
/// How long a process that does nothing is left alone at most.
const SELDOM: Duration = Duration::from_millis(192);
/// How often its account is sent while it runs.
const ACCOUNT_EVERY: Duration = Duration::from_secs(1);
/// How often its counters are sent while it runs, at most; many files make it less often.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(2);
/// Bytes of counters for which the next ones wait another second.
const SNAPSHOT_BYTES: usize = 256 << 10;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// Look again at this moment.
    Again(Instant),
    /// The spool has no room.
    Full,
    /// Everything is in the spool and durable; the process is over.
    Done,
    /// The same, and the process has written no log.
    Unlogged,
}

/// One process.
#[derive(Debug)]
pub(super) struct Follower {
    path: PathBuf,
    owner: u32,
    file: SegmentFile,
    producer: Producer,
    process: Process,
    clock: Option<Clock>,
    lanes: Vec<Cursor>,
    progress: Progress,
    /// Whether files pass the filter, by index.
    passes: BTreeMap<u32, bool>,
    pidfd: Option<OwnedFd>,
    began: bool,
    pause: Duration,
    accounted: Option<Instant>,
    snapped: Option<Instant>,
    /// How long the next counters wait.
    rest: Duration,
    /// The position behind its last frame, once that is in the spool.
    finished: Option<u64>,
}

impl Follower {
    /// Opens a segment; none if it is not set up yet, another daemon reads it, or all of it was read
    /// before.
    ///
    /// # Errors
    /// It is no segment, or somebody else's.
    pub(super) fn open(path: &Path, owner: u32, intake: &Intake) -> Result<Option<Follower>> {
        let Some(file) = SegmentFile::open(path, owner)? else { return Ok(None) };
        let front = match file.front() {
            // Made just now: it has no length yet, or its magic, which is written last.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            front => front.map_err(Error::io("reading", path))?,
        };
        if front.bytes.starts_with(&[0; 8]) {
            return Ok(None);
        }
        let image = counts(&file, &front).map_err(Error::io("reading", path))?;
        let view = View::new(image.bytes());
        let view = view.map_err(|source| Error::Segment { path: path.to_owned(), source })?;
        let host = jenkins64(view.host(), 0);
        let producer = Producer { host, start: view.start().1, pid: view.pid() };
        let pidfd = match Life::of(&view) {
            // Another host's daemon reads it.
            Life::Elsewhere => return Ok(None),
            Life::Running => Pid::from_raw(view.pid().cast_signed())
                .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()),
            Life::Over => None,
        };
        let process = Process::of(&view, Phase::Began);
        let clock = Clock::from_code(front.word(std::mem::offset_of!(Header, clock)));
        let follower = Follower {
            path: path.to_owned(),
            owner,
            file,
            producer,
            process,
            clock,
            lanes: Vec::new(),
            progress: Progress::default(),
            passes: BTreeMap::new(),
            pidfd,
            began: false,
            pause: SOON,
            accounted: None,
            snapped: None,
            rest: SNAPSHOT_EVERY,
            finished: intake.is_final(&producer).then_some(0),
        };
        Ok(Some(follower))
    }

    /// The job's key.
    pub(super) fn job(&self) -> &[u8] {
        &self.process.job
    }

    /// Whose segment it is.
    pub(super) fn owner(&self) -> u32 {
        self.owner
    }

    /// Readable when the process is gone.
    pub(super) fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref()
    }

    /// The process is gone.
    pub(super) fn gone(&mut self) {
        self.pidfd = None;
    }

    /// Looks once.
    ///
    /// # Errors
    /// The segment can not be read any more.
    pub(super) fn look(&mut self, intake: &Intake, filter: &Filter) -> io::Result<Looked> {
        if let Some(position) = self.finished {
            return Ok(self.end(intake, position));
        }
        // Asked before the heads are read: what a dead process published, it published before.
        let over = self.is_over();
        let front = self.file.front()?;
        let rows = self.rows(&front, intake)?;
        let mut read = Vec::new();
        let chunks = front.place(Region::Chunks);
        for (cursor, row) in self.lanes.iter_mut().zip(&rows) {
            let slots = cursor.read(&self.file, &chunks, row)?;
            if slots.count() > 0 {
                read.push((cursor.number, slots));
            }
        }
        let found = !read.is_empty();
        match self.send(intake, filter, read, &front) {
            Ok(()) => {}
            Err(Refused::Spool(crate::spool::Refused::Full)) => {
                // What is durable is given back all the same.
                self.acknowledge(&front, intake.committed())?;
                return Ok(Looked::Full);
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        self.acknowledge(&front, intake.committed())?;
        let done = self.lanes.iter().zip(&rows).all(|(cursor, row)| cursor.is_done(row));
        if over && done {
            return match self.finish(intake, &front, filter) {
                Ok(()) => Ok(Looked::Again(Instant::now() + SOON)),
                Err(Refused::Spool(crate::spool::Refused::Full)) => Ok(Looked::Full),
                Err(error) => Err(io::Error::other(error)),
            };
        }
        self.pause = if found { SOON } else { (self.pause * 2).min(SELDOM) };
        // More may be there than one look takes.
        let pause = if done { self.pause } else { Duration::ZERO };
        Ok(Looked::Again(Instant::now() + pause))
    }

    fn is_over(&mut self) -> bool {
        if self.pidfd.is_none() {
            return true;
        }
        // An image that was replaced writes no more, though its process lives.
        let state = std::mem::offset_of!(Header, state);
        let replaced = netra_event::segment::State::Exec as u32;
        self.file.front().is_ok_and(|front| front.word(state) == replaced && self.was_replaced())
    }

    /// A failed exec goes back to running; only another image in the process means that it worked.
    fn was_replaced(&self) -> bool {
        let exe = std::fs::read_link(format!("/proc/{}/exe", self.process.pid));
        let now = exe.map(|path| path.into_os_string().into_encoded_bytes()).unwrap_or_default();
        let command = std::fs::read(format!("/proc/{}/cmdline", self.process.pid));
        let command = command.unwrap_or_default();
        let joined: Vec<u8> =
            command.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
        now != self.process.exe || joined.trim_ascii_end() != self.process.command.trim_ascii_end()
    }

    /// The lanes' heads, and a cursor for each.
    fn rows(&mut self, front: &Front, intake: &Intake) -> io::Result<Vec<Row>> {
        let place = front.place(Region::Lanes);
        let mut bytes = Vec::new();
        self.file.read(&place, 0, place.used, &mut bytes)?;
        let rows: Vec<Row> = bytes.as_chunks::<LANE_BYTES>().0.iter().map(Row::new).collect();
        while self.lanes.len() < rows.len() {
            let number = self.lanes.len() as u32;
            let next = intake.next(&self.producer, Kind::Events, number);
            self.lanes.push(Cursor::new(number, next));
        }
        let unset = Row { head: 0, oldest: 0, ready: false };
        Ok(rows.into_iter().map(|row| if row.ready { row } else { unset }).collect())
    }

    /// Puts what was read into the spool: who it is, what events refer to, events, and now and then
    /// the account and the counters.
    fn send(
        &mut self,
        intake: &Intake,
        filter: &Filter,
        read: Vec<(u32, Slots)>,
        front: &Front,
    ) -> Result<(), Refused> {
        let failed = |error: io::Error| Refused::Spool(crate::spool::Refused::Failed(error));
        if !self.began {
            self.item(intake, Kind::Life, &self.process.pack())?;
            self.snapshot(intake, false)?;
            self.began = true;
        }
        let fresh = self.file.front().map_err(failed)?;
        let grown = self.progress.grown(&self.file, &fresh).map_err(failed)?;
        for body in &grown.bodies {
            self.item(intake, Kind::Tables, body)?;
        }
        self.progress.taken(grown);
        for (lane, slots) in read {
            self.events(intake, filter, lane, slots, front)?;
        }
        let due =
            |last: Option<Instant>, every: Duration| last.is_none_or(|at| at.elapsed() >= every);
        if due(self.accounted, ACCOUNT_EVERY) {
            self.accounted = Some(Instant::now());
            let account = self.account(intake, &fresh, false, filter).map_err(failed)?;
            self.item(intake, Kind::Ledger, &account.pack())?;
        }
        if due(self.snapped, self.rest) {
            self.snapshot(intake, false)?;
        }
        Ok(())
    }

    fn events(
        &mut self,
        intake: &Intake,
        filter: &Filter,
        lane: u32,
        mut slots: Slots,
        front: &Front,
    ) -> Result<(), Refused> {
        if !filter.is_empty() {
            self.look_at_paths(filter, front);
            let passes = |file: u32| self.passes.get(&file).copied().unwrap_or(true);
            filter.apply(&mut slots.bytes, passes);
        }
        let subject = Subject {
            kind: Kind::Events,
            producer: self.producer,
            lane,
            from: slots.from,
            // A look reads a few chunks.
            count: slots.count() as u32,
            events: count_events(slots.bytes.as_chunks().0, |_| {}),
            time: intake.clock.now(),
        };
        let mut bytes = Vec::new();
        frame::seal(&subject, &slots.bytes, &mut bytes)?;
        let taken = intake.offer(&bytes)?;
        if let Some(cursor) = self.lanes.get_mut(lane as usize) {
            cursor.taken(&slots, taken.position());
        }
        Ok(())
    }

    /// Judges files that came since the last time.
    fn look_at_paths(&mut self, filter: &Filter, front: &Front) {
        if !filter.looks_at_paths() {
            return;
        }
        let Ok(image) = files(&self.file, front) else { return };
        let Some(view) = image.view() else { return };
        for file in view.files() {
            self.passes.entry(file.index).or_insert_with(|| filter.passes(file.name));
        }
    }

    /// One item of a kind that is not events.
    fn item(&self, intake: &Intake, kind: Kind, body: &[u8]) -> Result<u64, Refused> {
        let from = intake.next(&self.producer, kind, 0);
        let subject = Subject::single(kind, self.producer, 0, from, intake.clock.now());
        let mut bytes = Vec::new();
        frame::seal(&subject, body, &mut bytes)?;
        Ok(intake.offer(&bytes)?.position())
    }

    /// The counters as they are now; `all` for the last word.
    fn snapshot(&mut self, intake: &Intake, all: bool) -> Result<u64, Refused> {
        let failed = |error: io::Error| Refused::Spool(crate::spool::Refused::Failed(error));
        let mut front = self.file.front().map_err(failed)?;
        if self.pidfd.is_some() {
            self.calibrate(&mut front, &intake.clock);
        }
        let (mut position, mut bytes) = (0, 0);
        for body in table::snapshot(&self.file, &front, all).map_err(failed)? {
            position = self.item(intake, Kind::Snapshot, &body)?;
            bytes += body.len();
        }
        self.snapped = Some(Instant::now());
        self.rest = SNAPSHOT_EVERY + Duration::from_secs((bytes / SNAPSHOT_BYTES) as u64);
        Ok(position)
    }

    /// Puts a newer pair of ticks and time into a copy of the header: the process itself takes one
    /// only at its start and its end.
    fn calibrate(&self, front: &mut Front, daemon: &crate::clock::Clock) {
        let Some(clock) = self.clock else { return };
        let (ticks, time) = tick::pair(clock, daemon);
        let count = std::mem::offset_of!(Header, calibrations);
        let places = std::mem::offset_of!(Header, calibration);
        let made = front.word(count);
        let place = 1 + (made.saturating_sub(1) as usize) % (CALIBRATIONS - 1);
        let at = places + place * size_of::<Calibration>();
        front.bytes[at..at + 8].copy_from_slice(&ticks.to_le_bytes());
        front.bytes[at + 8..at + 16].copy_from_slice(&time.to_le_bytes());
        let made = u64::from(made.max(1)) + 1;
        front.bytes[count..count + 8].copy_from_slice(&made.to_le_bytes());
    }

    /// What the lanes say of themselves, and what of it is in the spool.
    fn account(
        &self,
        intake: &Intake,
        front: &Front,
        is_final: bool,
        filter: &Filter,
    ) -> io::Result<Account> {
        let image = counts(&self.file, front)?;
        let Some(view) = image.view() else { return Ok(Account::default()) };
        let mut account = Account { is_final, ..Account::default() };
        let mut calls: BTreeMap<u16, u64> = BTreeMap::new();
        let killed = Phase::of_gone(&view) == Phase::Killed;
        for lane in view.lanes() {
            let mut line = LaneAccount::of(&lane);
            (line.read_slots, line.read) = intake.received(&self.producer, lane.number);
            for (code, count) in lane.calls() {
                let sum: &mut u64 = calls.entry(code).or_default();
                *sum = sum.saturating_add(count);
            }
            if is_final {
                let missing = line.produced.saturating_sub(line.read);
                let whole = line.read_slots >= line.head;
                let reason = if whole && !filter.is_empty() { Loss::Filtered } else { Loss::Torn };
                let unfinished =
                    line.calls.saturating_sub(line.produced.saturating_add(line.lost()));
                if missing > 0 {
                    line.dropped.push((reason as u8, missing));
                }
                if killed && (1..=2).contains(&unfinished) {
                    line.dropped.push((Loss::Killed as u8, unfinished));
                }
            }
            account.lanes.push(line);
        }
        if is_final {
            account.calls = calls.into_iter().collect();
        }
        Ok(account)
    }

    /// The last word about a process that is over.
    fn finish(&mut self, intake: &Intake, front: &Front, filter: &Filter) -> Result<(), Refused> {
        let failed = |error: io::Error| Refused::Spool(crate::spool::Refused::Failed(error));
        self.snapshot(intake, true)?;
        let image = counts(&self.file, front).map_err(failed)?;
        if let Some(view) = image.view() {
            self.process = Process::of(&view, Phase::of_gone(&view));
        }
        self.item(intake, Kind::Life, &self.process.pack())?;
        let account = self.account(intake, front, true, filter).map_err(failed)?;
        let position = self.item(intake, Kind::Ledger, &account.pack())?;
        self.finished = Some(position);
        Ok(())
    }

    /// Waits until the last word is durable; then the segment goes, if its log is written.
    fn end(&mut self, intake: &Intake, position: u64) -> Looked {
        if intake.committed() < position {
            return Looked::Again(Instant::now() + SOON);
        }
        let flags = std::mem::offset_of!(Header, flags);
        match self.file.front() {
            Ok(front) if front.word(flags) & LOGGED == 0 => return Looked::Unlogged,
            // Gone already: somebody else has removed it.
            Ok(_) => drop(std::fs::remove_file(&self.path)),
            // What can not be read stays for whoever can.
            Err(_) => {}
        }
        Looked::Done
    }

    fn acknowledge(&mut self, front: &Front, committed: u64) -> io::Result<()> {
        let place = front.place(Region::Lanes);
        for cursor in &mut self.lanes {
            if let Some(word) = cursor.durable(committed) {
                self.file.acknowledge(&place, cursor.number, word)?;
            }
        }
        Ok(())
    }
}

/// Header, lanes, calls and names as a segment.
fn counts(file: &SegmentFile, front: &Front) -> io::Result<Image> {
    image(&table::counts(file, front)?)
}

/// Header, files and names as a segment.
fn files(file: &SegmentFile, front: &Front) -> io::Result<Image> {
    image(&table::regions(file, front, &[Region::Files, Region::Names])?)
}

fn image(owned: &[table::Owned]) -> io::Result<Image> {
    let mut image = Image::default();
    image.take(owned.iter().map(|(region, stride, offset, bytes)| Part {
        region: *region,
        stride: *stride,
        offset: *offset,
        bytes,
    }));
    Ok(image)
}
