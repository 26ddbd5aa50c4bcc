//! One process, while its events pass: what is said of it once, and what its calls add up to.

use netra_event::segment::{View, extension};
use netra_event::{Function, Layer, Nanos, Rank};

use super::call::{Call, File, Share, selections};
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
    ///
    /// `names` knows the files of its segment by index, for calls on several of them.
    pub fn call<'a>(
        &'a mut self,
        timed: &Timed,
        to: Reference<'a>,
        names: &mut dyn FnMut(u32) -> Option<File<'a>>,
    ) -> Call<'a> {
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
            shares: Vec::new(),
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
            selection: None,
        };
        let each: Vec<_> = selections(to.extension).collect();
        if let [_, _, ..] = each[..] {
            // Every data set has the same share of the time, as in its counters.
            let took = call.duration.0 / each.len() as u64;
            for found in each {
                let Some(file) = names(found.data_set) else { continue };
                let moved = found.points.saturating_mul(u64::from(found.element_bytes));
                let end = Nanos(step.start.0.saturating_add(took));
                let step = Step { moved, end, selection: Some(selection(&found)), ..step };
                if let Some(running) = self.totals.step(module, file.id, step) {
                    call.shares.push(Share { file, moved, running });
                }
            }
            call.running = call.shares.first().map(|share| share.running);
            return call;
        }
        let step = Step { selection: each.first().map(selection), ..step };
        call.running = self.totals.step(module, file.id, step);
        call
    }
}

fn selection(found: &extension::Selection<'_>) -> Selection {
    Selection { shape: found.shape, dimensions: found.dimensions, elements: found.points }
}

/// The connector's name for the layer of a call, where it knows the layer.
pub(super) fn module(function: Function, file: &File<'_>) -> Option<&'static str> {
    match function.layer() {
        Layer::Posix => Some("POSIX"),
        Layer::Stdio => Some("STDIO"),
        Layer::Mpiio => Some("MPIIO"),
        // Attributes and groups are metadata, which the connector does not know.
        Layer::Hdf5 => match (function.name().as_bytes().get(2), file.within) {
            (Some(b'F'), None) => Some("H5F"),
            (Some(b'D'), Some(_)) => Some("H5D"),
            _ => None,
        },
        Layer::Process | Layer::Example | Layer::Pnetcdf => None,
    }
}
