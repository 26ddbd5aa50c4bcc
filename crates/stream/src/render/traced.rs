//! Renders the extended trace of a Darshan log: reads and writes of POSIX and MPI-IO, without anything else.
//!
//! Such a trace does not say which function was called: `read`, `write`, `MPI_File_read` and `MPI_File_write` stand for all
//! of their kind. What one rank did to one file comes in the order of the log.

use std::io::{self, Write};

use netra_darshan::Missing;
use netra_darshan::read::{Direction, Dxt, Log, Record};
use netra_darshan::record::dxt::Segment;
use netra_event::{Event, Function, Module, Nanos, Rank};

use super::process::{About, Process, Reference};
use super::{File, Render, Told};
use crate::source::Timed;

/// Renders the traces of a log; what of them can not be read goes to what is missing.
///
/// # Errors
/// The output can not be written.
pub fn traced(
    log: &Log,
    missing: &mut Missing<'_>,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<Told> {
    let mut told = Told::default();
    for (lane, module) in (0..).zip([Module::DxtPosix, Module::DxtMpiio]) {
        let mut records = log.records(module);
        let mut index = 0;
        while let Some(record) = records.next_record() {
            let Record::Dxt(dxt) = record else { continue };
            told.add(one(log, (module, lane), dxt, &mut index, render, out)?);
        }
        missing.read(&records);
    }
    Ok(told)
}

/// What one rank did to one file.
fn one(
    log: &Log,
    (module, lane): (Module, u32),
    mut dxt: Dxt<'_>,
    index: &mut u64,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<Told> {
    let head = dxt.head.clone();
    let mut process = Process::new(about(log, head.rank, &head.host));
    let name = log.names().get(head.id).unwrap_or_default();
    let file = Some(File { id: head.id.0, name, within: None, elements: None });
    let to = Reference { file, ..Reference::default() };
    let mut told = Told::default();
    while let Some((direction, segments)) = dxt.segments.next_piece() {
        for segment in segments.iter().filter(|segment| segment.start.is_finite()) {
            let mut timed = timed(log, function(module, direction), segment);
            (timed.lane, timed.index) = (lane, *index);
            *index += 1;
            told.events += 1;
            let call = process.call(&timed, to, &mut |_| None);
            told.written += u64::from(render.call(out, &call)?);
        }
    }
    Ok(told)
}

/// What the log says about a rank. Its processes' numbers are not known.
fn about(log: &Log, rank: Rank, host: &[u8]) -> About {
    let job = log.job();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    About {
        job: job.numbers.jobid.to_string(),
        job_id: job.numbers.jobid,
        host: text(host),
        pid: 0,
        uid: u32::try_from(job.numbers.uid).unwrap_or(0),
        rank: Some(rank),
        exe: text(job.exe.split(|byte| *byte == b' ').next().unwrap_or_default()),
        start: Nanos(start(log)),
    }
}

/// When the job began: nanoseconds since 1970, UTC.
#[must_use]
pub fn start(log: &Log) -> u64 {
    let numbers = &log.job().numbers;
    let nanos = numbers.start_sec.saturating_mul(1_000_000_000).saturating_add(numbers.start_nsec);
    u64::try_from(nanos).unwrap_or(0)
}

fn function(module: Module, direction: Direction) -> Function {
    match (module == Module::DxtMpiio, direction) {
        (false, Direction::Read) => Function::Read,
        (false, Direction::Write) => Function::Write,
        (true, Direction::Read) => Function::MpiFileRead,
        (true, Direction::Write) => Function::MpiFileWrite,
    }
}

fn timed(log: &Log, function: Function, segment: &Segment) -> Timed {
    // The casts saturate: what is before the job's start stands at it.
    let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
    let begun = start(log).saturating_add(nanos(segment.start));
    let took = nanos(segment.end).saturating_sub(nanos(segment.start));
    let length = u64::try_from(segment.length).unwrap_or(0);
    Timed {
        lane: 0,
        index: 0,
        thread: segment.thread.and_then(|thread| u32::try_from(thread).ok()).unwrap_or(0),
        start: Nanos(begun),
        duration: Nanos(took),
        event: Event {
            start: begun,
            duration: took,
            offset: segment.offset,
            length,
            result: segment.length,
            file: 1,
            code: function.code(),
            failed: false,
            site: 0,
            parent: 0,
            number: 0,
            extension: 0,
        },
    }
}
