//! A process's part of a job: what is known about it without its events, and where the rest is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use netra_darshan::Log;
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_event::frame::Producer;
use netra_event::segment::shard::{direction, mpiio, posix, stdio};
use netra_event::segment::{Record, SANDBOXED, State, View};
use netra_event::{Loss, Module, Nanos, RecordId};

use super::{Life, Segment};
use crate::sink;
use crate::{Error, Result};

/// What a piece was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A segment that its process left behind, or still writes.
    Segment,
    /// The log that a process wrote when it ended: this block of its section.
    Log {
        /// Which block.
        block: usize,
    },
}

/// A process's part of a job.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Where it was found.
    pub path: PathBuf,
    /// What it was found in.
    pub kind: Kind,
    /// Text key of the job.
    pub job: Vec<u8>,
    /// The job's number.
    pub job_id: i64,
    /// The process.
    pub pid: u32,
    /// The PID namespace in which its number means something, if it is known.
    pub namespace: Option<u64>,
    /// When the process was started, in the kernel's clock ticks since boot, if it is known exactly.
    pub started: Option<u64>,
    /// Its user.
    pub uid: u32,
    /// Its host.
    pub host: Vec<u8>,
    /// Its command line.
    pub command: Vec<u8>,
    /// Its rank, if it has one.
    pub rank: Option<u32>,
    /// Whether MPI told the rank, and not only the environment.
    pub from_mpi: bool,
    /// Processes of the job, as far as it knows.
    pub nprocs: Option<u32>,
    /// When recording began: nanoseconds since 1970, UTC.
    pub start: Nanos,
    /// When it last read the clock: of two copies of one process's part, the later one has more.
    pub recorded: Nanos,
    /// The job's log that it wrote its part into when MPI ended; this one then has more than that.
    pub log: Option<PathBuf>,
    /// What became of it, by its own words.
    pub state: Option<State>,
    /// Whether it still runs.
    pub life: Life,
    /// Whether it has counted anything.
    pub counted: bool,
    /// Whether it has read or written anything.
    pub moved: bool,
    /// What its counters have for I/O, over all threads.
    pub io: Nanos,
    /// Events it wrote.
    pub events: u64,
    /// Events it did not write, by reason.
    pub dropped: Vec<(Loss, u64)>,
    /// What the library complained about.
    pub notes: Vec<String>,
    /// Bytes of files that were mapped into memory.
    pub mapped: Vec<(RecordId, u64)>,
    /// The segment's flags.
    pub flags: u32,
    /// Where a daemon has kept its events, if one read them while it ran.
    pub kept: Option<PathBuf>,
}

impl Piece {
    /// Looks at a segment.
    ///
    /// # Errors
    /// As for [`Segment::read`].
    pub fn of_segment(path: &Path, owner: Option<u32>) -> Result<Piece> {
        let segment = Segment::peek(path, owner)?;
        Ok(Piece::new(path, Kind::Segment, &segment.view()))
    }

    /// Looks at the segments that a log carries; none if netra did not write it.
    ///
    /// # Errors
    /// It is not a log. A block that can not be read is left out, and with it its process.
    pub fn of_log(path: &Path) -> Result<Vec<Piece>> {
        let log = open(path)?;
        let mut pieces = Vec::new();
        for (block, found) in log.section().blocks().iter().enumerate() {
            if found.head.kind != KIND_SEGMENT {
                continue;
            }
            let Ok(bytes) = found.bytes() else { continue };
            if let Ok(view) = View::new(&bytes) {
                pieces.push(Piece::new(path, Kind::Log { block }, &view));
            }
        }
        Ok(pieces)
    }

    /// Looks at a segment's bytes, found where `kind` says.
    #[must_use]
    pub fn new(path: &Path, kind: Kind, view: &View<'_>) -> Piece {
        let dropped = |loss: Loss| {
            let counts = view.lanes().map(|lane| lane.dropped(loss).0);
            (loss, counts.fold(0, u64::saturating_add))
        };
        let dropped = Loss::ALL.iter().map(|&loss| dropped(loss)).filter(|loss| loss.1 > 0);
        Piece {
            path: path.to_owned(),
            kind,
            job: view.job().to_vec(),
            job_id: view.job_id(),
            pid: view.pid(),
            namespace: view.namespace(),
            started: view.started(),
            uid: view.uid(),
            host: view.host().to_vec(),
            command: view.command().to_vec(),
            rank: view.rank(),
            from_mpi: view.rank_is_from_mpi(),
            nprocs: view.nprocs(),
            start: Nanos(view.start().1),
            recorded: Nanos(view.newest().1),
            log: Some(view.log())
                .filter(|path| !path.is_empty())
                .map(|path| PathBuf::from(OsStr::from_bytes(path))),
            state: view.state(),
            // A log is written once, at the end.
            life: if kind == Kind::Segment { Life::of(view) } else { Life::Over },
            counted: view.records().next().is_some(),
            moved: view.records().any(|record| moved(&record)),
            io: spent(view),
            events: view.lanes().map(|lane| lane.produced()).fold(0, u64::saturating_add),
            dropped: dropped.collect(),
            notes: view.notes().map(|note| String::from_utf8_lossy(note).into_owned()).collect(),
            mapped: mapped(view),
            flags: view.flags(),
            kept: None,
        }
    }

    /// Reads all of it, with the events that a daemon has kept.
    ///
    /// # Errors
    /// It can not be read any more.
    pub fn load(&self) -> Result<Segment> {
        let segment = self.left()?;
        let Some(folder) = &self.kept else { return Ok(segment) };
        let host = netra_event::jenkins64(&self.host, 0);
        let producer = Producer { host, start: self.start.0, pid: self.pid };
        let kept = sink::kept(folder, &producer).map_err(Error::io("reading", folder))?;
        Ok(if kept.is_empty() { segment } else { segment.with_events(&kept) })
    }

    /// What the process itself left.
    fn left(&self) -> Result<Segment> {
        match self.kind {
            Kind::Segment => Segment::read(&self.path, None),
            Kind::Log { block } => {
                let log = open(&self.path)?;
                let damaged = || Error::Segment {
                    path: self.path.clone(),
                    source: netra_event::segment::Error::NotASegment,
                };
                let section = log.section();
                let block = section.blocks().get(block).ok_or_else(damaged)?;
                let bytes = block.bytes().map_err(|_| damaged())?;
                Segment::from_bytes(&self.path, bytes)
            }
        }
    }

    /// Adds its mapped bytes to those of other processes.
    pub fn add_mapped(&self, sums: &mut BTreeMap<RecordId, u64>) {
        for &(file, bytes) in &self.mapped {
            let sum = sums.entry(file).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Whether both are of one process.
    #[must_use]
    pub fn is_same_process(&self, other: &Piece) -> bool {
        self.identity() == other.identity()
    }

    /// What no two processes have in common: numbers are used again, but not at the same moment.
    pub(crate) fn identity(&self) -> (&[u8], u32, Nanos) {
        (&self.host, self.pid, self.start)
    }

    /// Whether it only starts others: what it reads and writes is about the job, not of it.
    #[must_use]
    pub fn is_launcher(&self) -> bool {
        is_launcher(&self.command, self.from_mpi)
    }

    /// Whether the process was ended from outside, without a word. In a sandbox words may be forbidden.
    #[must_use]
    pub fn was_killed(&self) -> bool {
        self.life == Life::Over && self.state == Some(State::Running) && !self.was_sandboxed()
    }

    /// Whether the process went into a sandbox, in which it could not be recorded freely.
    #[must_use]
    pub fn was_sandboxed(&self) -> bool {
        self.flags & SANDBOXED != 0
    }
}

/// Whether a process of this command line only starts others; no rank of MPI does.
#[must_use]
pub fn is_launcher(command: &[u8], from_mpi: bool) -> bool {
    const LAUNCHERS: [&[u8]; 15] = [
        b"mpirun",
        b"mpiexec",
        b"orterun",
        b"orted",
        b"prterun",
        b"prte",
        b"prted",
        b"prun",
        b"hydra_pmi_proxy",
        b"hydra_bstrap_proxy",
        b"pmi_proxy",
        b"srun",
        b"aprun",
        b"jsrun",
        b"flux",
    ];
    let word = command.split(|&byte| byte == b' ').next().unwrap_or_default();
    let name = word.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    // Debian's alternatives: `mpirun.openmpi`, `mpiexec.hydra`.
    let name = name.split(|&byte| byte == b'.').next().unwrap_or_default();
    !from_mpi && LAUNCHERS.contains(&name)
}

/// Files that were mapped into memory, by what each thread counted.
fn mapped(view: &View<'_>) -> Vec<(RecordId, u64)> {
    let of_files = view.records().filter(|one| one.module == u32::from(Module::Posix.code()));
    let bytes = |record: Record<'_>| {
        let bytes = record.word(posix::BYTES_MAPPED);
        let id = RecordId(view.file(record.file).filter(|_| bytes > 0)?.id);
        Some((id, bytes))
    };
    of_files.filter_map(bytes).collect()
}

/// Whether a record counts calls that read or write.
fn moved(record: &Record<'_>) -> bool {
    let is = |module: Module| record.module == u32::from(module.code());
    let words = match () {
        () if is(Module::Posix) => {
            [posix::READ + direction::CALLS, posix::WRITE + direction::CALLS]
        }
        () if is(Module::Mpiio) => {
            [mpiio::READ + direction::CALLS, mpiio::WRITE + direction::CALLS]
        }
        () if is(Module::Stdio) => [stdio::READ + stdio::CALLS, stdio::WRITE + stdio::CALLS],
        () => return false,
    };
    words.iter().any(|&word| record.word(word) > 0)
}

/// What the counters of system calls and streams have for reads, writes and other calls; layers above count the same
/// time again.
fn spent(view: &View<'_>) -> Nanos {
    let of = |record: &Record<'_>| {
        let is = |module: Module| record.module == u32::from(module.code());
        let words = match () {
            () if is(Module::Posix) => {
                [posix::READ + direction::TIME, posix::WRITE + direction::TIME, posix::META_TIME]
            }
            () if is(Module::Stdio) => {
                [stdio::READ + stdio::TIME, stdio::WRITE + stdio::TIME, stdio::META_TIME]
            }
            () => return 0,
        };
        words.iter().map(|&word| record.word(word)).fold(0, u64::saturating_add)
    };
    let ticks = view.records().map(|record| of(&record)).fold(0, u64::saturating_add);
    // The cast saturates, which only damaged ticks reach.
    Nanos((ticks as f64 * view.tick()) as u64)
}

fn open(path: &Path) -> Result<Log> {
    Log::open(path).map_err(|source| Error::Log { path: path.to_owned(), source })
}
