//! One process, while its events pass: what is said of it once, and what its calls add up to.

use netra_event::segment::View;
use netra_event::{Function, Layer, Nanos, Rank};

use super::call::{Call, File, selections};
use super::running::{Selection, Step, Totals};
use crate::source::Timed;

/// What is known of a process and stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Text key of the job.
    pub job: String,
    /// The job's number.
    pub job_id: i64,
    /// The host.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// Its number in the job's log, or its rank; none for a helper that has neither.
    pub rank: Option<Rank>,
    /// Path of the executable.
    pub exe: String,
    /// When recording began: nanoseconds since 1970, UTC.
    pub start: Nanos,
}

impl About {
    /// What a segment says.
    #[must_use]
    pub fn of(view: &View<'_>, rank: Option<Rank>) -> About {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        About {
            job: text(view.job()),
            job_id: view.job_id(),
            host: text(view.host()),
            pid: view.pid(),
            uid: view.uid(),
            rank: rank.or(view.rank().map(|rank| Rank(i64::from(rank)))),
            exe: text(view.exe()),
            start: Nanos(view.start().1),
        }
    }
}

/// What an event refers to, in words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference<'a> {
    /// The file.
    pub file: Option<File<'a>>,
    /// Who called.
    pub site: Option<&'a str>,
    /// What few events have besides: kind and bytes.
    pub extension: Option<(u32, &'a [u8])>,
    /// Whether events before this one are missing.
    pub after_loss: bool,
}

/// A process whose events pass in the order in which the calls ended.
#[derive(Debug)]
pub struct Process {
    about: About,
    totals: Totals,
}

impl Process {
    /// Before its first event.
    #[must_use]
    pub fn new(about: About) -> Process {
        Process { about, totals: Totals::default() }
    }

    /// Takes its next event.
    pub fn call<'a>(&'a mut self, timed: &Timed, to: Reference<'a>) -> Call<'a> {
        let mut call = Call {
            about: &self.about,
            lane: timed.lane,
            index: timed.index,
            thread: timed.thread,
            start: timed.start,
            duration: timed.duration,
            event: timed.event,
            file: to.file,
            site: to.site,
            extension: to.extension,
            running: None,
            after_loss: to.after_loss,
        };
        let (Some(function), Some(file), false) = (call.function(), to.file, timed.event.failed)
        else {
            return call;
        };
        let Some(module) = module(function, &file) else { return call };
        let step = Step {
            kind: function.kind(),
            offset: timed.event.offset,
            moved: call.moved(),
            start: call.start,
            end: call.end(),
            selection: selections(to.extension).next().map(|found| Selection {
                shape: found.shape,
                dimensions: found.dimensions,
                elements: found.points,
            }),
        };
        call.running = self.totals.step(module, file.id, step);
        call
    }
}

/// The connector's name for the layer of a call, where it knows the layer.
pub(super) fn module(function: Function, file: &File<'_>) -> Option<&'static str> {
    match function.layer() {
        Layer::Posix => Some("POSIX"),
        Layer::Stdio => Some("STDIO"),
        Layer::Mpiio => Some("MPIIO"),
        Layer::Hdf5 if file.within.is_some() => Some("H5D"),
        Layer::Hdf5 => Some("H5F"),
        Layer::Process | Layer::Example | Layer::Pnetcdf => None,
    }
}
