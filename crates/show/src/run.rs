//! What is said when a recorded command has ended: a few lines for people, or a document for programs
//! (`docs/reference/run-json.md`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::path::Path;

use netra_analyse::{Aside, Mapped, Who, is_of_mpi};
use netra_darshan::read::{Log, Record};
use netra_darshan::section::Attendance;
use netra_event::segment::{ANONYMOUS, PARTIAL, UNTRACED};
use netra_event::{Loss, Rank, RecordId, Seconds};
use netra_stream::job::Job;
use netra_stream::source::Piece;

use crate::attendance;
use crate::info::{percent, plural};
use crate::plain::{plain, shortened};
use crate::summary::Sum;
use crate::{Json, Summary, head, member};

/// A process that ran for less of the job than this is said to.
const SHORT: f64 = 0.9;
/// Characters of a file's name or a command.
const NAME: usize = 60;

/// One process's share.
#[derive(Debug, Clone, PartialEq)]
struct Process {
    called: String,
    /// How long it ran.
    ran: Seconds,
    /// How long its threads were in I/O, added up.
    io: Seconds,
    /// The file that took it longest, by the layer that it was used through, and how long.
    file: Option<(RecordId, Seconds)>,
}

/// What the processes of a job did, each by its own log.
#[derive(Debug, Default)]
pub struct Run {
    processes: Vec<Process>,
    /// The command's process, where it ended by itself.
    ended: Option<u32>,
    /// Names of the settings that leave calls out.
    leaving_out: Vec<&'static str>,
}

impl Run {
    /// A run in which these settings leave calls out.
    #[must_use]
    pub fn leaving_out(settings: &[&'static str]) -> Run {
        Run { leaving_out: settings.to_vec(), ..Run::default() }
    }

    /// Adds one process.
    pub fn process(&mut self, piece: &Piece, number: Option<Rank>, log: &Log) {
        let critical = summary(log).0.critical(1);
        let ran = Seconds(log.job().end().0 - log.job().start().0);
        // What a launcher starts may start others, which inherit its number.
        let is_rank = |rank: &u32| number == Some(Rank(i64::from(*rank)));
        let called = match piece.rank.filter(is_rank) {
            Some(rank) => format!("rank {rank}"),
            None => Who::name(&String::from_utf8_lossy(&piece.command), piece.pid),
        };
        if number.is_some() {
            let io = Seconds(critical.seconds);
            let file = critical.by_file().first().map(|&(file, seconds)| (file, Seconds(seconds)));
            self.processes.push(Process { called, ran, io, file });
        }
    }

    /// The command's process ended by itself: it was not killed, even if it did not say so.
    pub fn ended(&mut self, pid: u32) {
        self.ended = Some(pid);
    }

    /// Processes that ended without a word.
    fn broken_off<'a>(&self, job: &'a Job) -> Vec<&'a Piece> {
        let pieces = job.pieces().iter().filter(|piece| piece.was_killed());
        pieces.filter(|piece| self.ended != Some(piece.pid)).collect()
    }

    /// Says it; `log` is the job's.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&self, out: &mut impl Write, job: &Job, log: &Log, colour: bool) -> Result<()> {
        let (bold, end) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let (summary, aside) = summary(log);
        writeln!(out, "netra: {bold}{}{end}", self.time_line(head::run_time(log)))?;
        if summary.files() > 0 {
            let total = summary.total();
            writeln!(
                out,
                "       read {}, wrote {}, {} by {}",
                total.read,
                total.written,
                plural(count(summary.files()), "file", "files"),
                plural(count(self.processes.len()), "process", "processes"),
            )?;
            self.slowest_file(out, &summary, log)?;
        }
        if aside.files > 0 {
            writeln!(out, "       {}", aside.says())?;
        }
        if let Some(mapped) = mapped(job, &summary, log) {
            writeln!(out, "       {}", mapped.says())?;
        }
        completeness(out, job, &self.broken_off(job), &self.leaving_out)
    }

    /// The same for programs: one line, one document.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn json(&self, out: &mut impl Write, job: &Job, log: &Log, path: &Path) -> Result<()> {
        let (summary, _) = summary(log);
        let mut json = Json::new(out);
        json.open('{')?;
        member::text(&mut json, "job", &job.key())?;
        member::text(&mut json, "log", &path.to_string_lossy())?;
        member::integer(&mut json, "processes", count(self.processes.len()))?;
        let whole = head::run_time(log);
        member::float(&mut json, "run_time_seconds", whole.0)?;
        json.key("slowest_process")?;
        match self.slowest() {
            None => json.null()?,
            Some(Process { called, ran, io, .. }) => {
                json.open('{')?;
                member::text(&mut json, "name", called)?;
                member::float(&mut json, "io_seconds", io.0)?;
                member::float(&mut json, "share", (io.0 / whole.0).clamp(0.0, 1.0))?;
                member::float(&mut json, "ran_seconds", ran.0)?;
                json.close('}')?;
            }
        }
        let total = summary.total();
        member::integer(&mut json, "files", count(summary.files()))?;
        member::number(&mut json, "bytes_read", total.read.0)?;
        member::number(&mut json, "bytes_written", total.written.0)?;
        self.slowest_file_json(&mut json, &summary, log)?;
        mapped_json(&mut json, mapped(job, &summary, log))?;
        completeness_json(&mut json, job, &self.broken_off(job))?;
        json.close('}')?;
        json.finish()
    }

    /// The process that was longest in I/O, if any was.
    fn slowest(&self) -> Option<&Process> {
        let slowest = self.processes.iter().max_by(|a, b| a.io.0.total_cmp(&b.io.0));
        slowest.filter(|process| process.io.0 > 0.0)
    }

    /// The file that took the slowest process longest, and what all moved of it.
    fn its_file(&self, summary: &Summary) -> Option<(RecordId, Seconds, Sum)> {
        let (file, seconds) = self.slowest()?.file?;
        let sum = summary.file(file).map(|file| file.sum).unwrap_or_default();
        Some((file, seconds, sum))
    }

    fn slowest_file(&self, out: &mut impl Write, summary: &Summary, log: &Log) -> Result<()> {
        let Some((file, seconds, sum)) = self.its_file(summary) else { return Ok(()) };
        let name = log.names().get(file).map(plain);
        let name = name.unwrap_or_else(|| format!("record {file}").into());
        let Sum { read, written, .. } = sum;
        let moved = match (read.0, written.0) {
            (0, 0) => "no bytes moved".to_owned(),
            (_, 0) => format!("read {read}"),
            (0, _) => format!("wrote {written}"),
            _ => format!("read {read}, wrote {written}"),
        };
        writeln!(out, "       slowest file {}: {seconds}, {moved}", shortened(&name, NAME))
    }

    fn slowest_file_json(
        &self,
        json: &mut Json<'_, impl Write>,
        summary: &Summary,
        log: &Log,
    ) -> Result<()> {
        json.key("slowest_file")?;
        let Some((file, seconds, sum)) = self.its_file(summary) else { return json.null() };
        json.open('{')?;
        json.key("name")?;
        json.bytes(log.names().get(file).unwrap_or_default())?;
        member::float(json, "seconds", seconds.0)?;
        member::number(json, "bytes_read", sum.read.0)?;
        member::number(json, "bytes_written", sum.written.0)?;
        json.close('}')
    }

    /// The slowest process's time as a share of the job's, as everything else that netra says; its own life, where it
    /// was much shorter.
    fn time_line(&self, whole: Seconds) -> String {
        let Some(Process { called, ran, io, .. }) = self.slowest() else {
            return "no I/O on files was recorded".to_owned();
        };
        let short =
            if ran.0 < SHORT * whole.0 { format!(", which ran for {ran}") } else { String::new() };
        let whose = match self.processes.len() {
            1 => String::new(),
            _ => format!(" on the slowest process ({called}{short})"),
        };
        if io.0 > ran.0 {
            return format!(
                "I/O took {io}{whose}, over all its threads and requests; the job ran for {whole}"
            );
        }
        format!("I/O took {io} of {whole} ({}){whose}", percent(io.0 / whole.0))
    }
}

/// The sums of one log, and of what in it is about files of MPI's own, which is nobody's I/O.
fn summary(log: &Log) -> (Summary, Aside) {
    let ran = Seconds(log.job().end().0 - log.job().start().0);
    let mut summary = Summary::new(log.modules(), ran);
    let mut own = Summary::new(log.modules(), ran);
    for module in log.modules() {
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            if let Record::Counters(record) = record {
                let of = if is_own(log, record.id) { &mut own } else { &mut summary };
                of.add(module, &record);
            }
        }
    }
    let Sum { read, written, .. } = own.total();
    let files = own.files() as u64;
    let rank_seconds = own.total().time().0;
    (summary, Aside { files, bytes_read: read.0, bytes_written: written.0, rank_seconds })
}

/// Whether a file is one that MPI made for itself.
fn is_own(log: &Log, file: RecordId) -> bool {
    log.names().get(file).is_some_and(|name| is_of_mpi(&String::from_utf8_lossy(name)))
}

/// Files of which more was mapped into memory than calls moved.
fn mapped(job: &Job, summary: &Summary, log: &Log) -> Option<Mapped> {
    let mut mapped = BTreeMap::new();
    let pieces = job.pieces().iter().filter(|piece| !piece.is_launcher());
    pieces.for_each(|piece| piece.add_mapped(&mut mapped));
    mapped.retain(|&file, _| !is_own(log, file));
    Mapped::of(&mapped, |file| summary.file(file).map_or(0, |file| file.sum.bytes().0))
}

fn mapped_json(json: &mut Json<'_, impl Write>, mapped: Option<Mapped>) -> Result<()> {
    json.key("mapped")?;
    let Some(mapped) = mapped else { return json.null() };
    json.open('{')?;
    member::number(json, "files", mapped.files)?;
    member::number(json, "bytes", mapped.bytes)?;
    json.close('}')
}

/// Events there are and events there are not, flags, killed processes and notes.
fn completeness_json(
    json: &mut Json<'_, impl Write>,
    job: &Job,
    broken_off: &[&Piece],
) -> Result<()> {
    let flags = job.pieces().iter().fold(0, |flags, piece| flags | piece.flags);
    member::number(json, "events", job.events())?;
    json.key("dropped")?;
    json.open('{')?;
    for (loss, count) in job.dropped() {
        member::number(json, loss.slug(), count)?;
    }
    json.close('}')?;
    for (name, flag) in [("untraced", UNTRACED), ("partial", PARTIAL), ("in_memory", ANONYMOUS)] {
        member::truth(json, name, flags & flag != 0)?;
    }
    let killed = broken_off.iter();
    member::list(json, "killed", killed, |json, piece| json.unsigned(u64::from(piece.pid)))?;
    let sandboxed = job.pieces().iter().filter(|piece| piece.was_sandboxed());
    member::list(json, "sandboxed", sandboxed, |json, piece| json.unsigned(u64::from(piece.pid)))?;
    json.key("attendance")?;
    match job.attendance() {
        None => json.null()?,
        Some(found) => attendance::json(json, &attendance::of(found))?,
    }
    member::list(json, "notes", job.notes().keys(), |json, note| json.text(note))
}

/// What is missing, by reason, in sentences; counters of who was recorded never are.
fn completeness(
    out: &mut impl Write,
    job: &Job,
    killed: &[&Piece],
    settings: &[&str],
) -> Result<()> {
    let caveats = job.attendance().map(Attendance::caveats).unwrap_or_default();
    let whole = caveats.is_empty();
    let mut dropped = job.dropped();
    let excluded = dropped.remove(&Loss::Excluded).unwrap_or(0);
    let missing = dropped.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let events = job.events();
    let flags = job.pieces().iter().fold(0, |flags, piece| flags | piece.flags);
    if missing == 0 && flags & UNTRACED != 0 {
        let of = if whole { "counters" } else { "counters of what was recorded" };
        writeln!(out, "       {of} are complete; calls were not traced, as asked")?;
    } else if missing == 0 {
        let aside = match excluded {
            0 => String::new(),
            _ if settings.is_empty() => {
                format!(" ({excluded} more on paths that are left out, such as /usr and /etc)")
            }
            _ => {
                let by = settings.join(" and ");
                format!(
                    " ({excluded} more are left out by {by}, or on paths such as /usr and /etc)"
                )
            }
        };
        let of = if whole { "complete" } else { "what was recorded is complete" };
        writeln!(out, "       {of}: {} traced, none lost{aside}", calls(events))?;
    } else {
        let all = calls(events.saturating_add(missing));
        writeln!(out, "       counters are complete, the trace is not: of {all}")?;
        for (loss, count) in &dropped {
            writeln!(out, "       {count} are left out because {loss}{}", advice(*loss))?;
        }
    }
    let wished = job.attendance().map(Attendance::wished).unwrap_or_default();
    for said in caveats.iter().chain(&wished) {
        writeln!(out, "       {}", plain(said.as_bytes()))?;
    }
    if flags & PARTIAL != 0 {
        writeln!(
            out,
            "       more files than names fit: the last ones are summed as <other files>"
        )?;
    }
    if flags & ANONYMOUS != 0 {
        writeln!(
            out,
            "       space for the segment was refused: a killed process would lose records"
        )?;
    }
    if !killed.is_empty() {
        let number = plural(count(killed.len()), "process", "processes");
        writeln!(
            out,
            "       {number} ended without libc's exit, killed or by a system call of its own; what it had recorded is \
             in the log: {}",
            names(killed)
        )?;
    }
    let sandboxed: Vec<&Piece> =
        job.pieces().iter().filter(|piece| piece.was_sandboxed()).collect();
    if !sandboxed.is_empty() {
        let number = plural(count(sandboxed.len()), "process", "processes");
        writeln!(
            out,
            "       {number} went into a sandbox (seccomp), where netra records only what needs no call that the sandbox forbids: {}",
            names(&sandboxed)
        )?;
    }
    for (note, count) in job.notes() {
        let times = if count > 1 { format!(" (in {count} processes)") } else { String::new() };
        writeln!(out, "       note: {}{times}", plain(note.as_bytes()))?;
    }
    Ok(())
}

/// Where the log is.
///
/// # Errors
/// If the output can not be written.
pub fn place(out: &mut impl Write, path: &Path) -> Result<()> {
    writeln!(out, "       log {}", path.display())
}

/// What to type next: the last run needs no name, where it was kept in mind.
///
/// # Errors
/// If the output can not be written.
pub fn next(out: &mut impl Write, named: Option<&Path>) -> Result<()> {
    match named {
        None => writeln!(out, "       next: netra report"),
        Some(log) => writeln!(out, "       next: netra report {}", quoted(&log.to_string_lossy())),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

fn calls(number: u64) -> String {
    plural(i64::try_from(number).unwrap_or(i64::MAX), "call", "calls")
}

/// The first processes of a list.
fn names(pieces: &[&Piece]) -> String {
    const FEW: usize = 3;
    let name = |piece: &&Piece| {
        let command = plain(&piece.command);
        format!("{} ({})", piece.pid, shortened(command.trim(), NAME / 2))
    };
    let mut text = pieces.iter().take(FEW).map(name).collect::<Vec<_>>().join(", ");
    if pieces.len() > FEW {
        text.push_str(", …");
    }
    text
}

fn advice(loss: Loss) -> &'static str {
    match loss {
        Loss::Budget => " (--trace-budget raises it)",
        Loss::Space => " (NETRA_SEGMENT_DIR chooses another place)",
        _ => "",
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(processes: &[(f64, f64)], whole: f64, line: &str) {
        let process = |(rank, &(io, ran)): (usize, &(f64, f64))| Process {
            called: format!("rank {rank}"),
            ran: Seconds(ran),
            io: Seconds(io),
            file: None,
        };
        let run = Run {
            processes: processes.iter().enumerate().map(process).collect(),
            ..Run::default()
        };
        assert_eq!(run.time_line(Seconds(whole)), line);
    }

    #[test]
    fn the_slowest_process_is_named_where_there_are_several() {
        says(&[(1.0, 4.0)], 4.0, "I/O took 1.00 s of 4.00 s (25 %)");
        says(
            &[(1.0, 4.0), (2.0, 4.0)],
            4.0,
            "I/O took 2.00 s of 4.00 s (50 %) on the slowest process (rank 1)",
        );
        says(
            &[(9.0, 3.0)],
            3.0,
            "I/O took 9.00 s, over all its threads and requests; the job ran for 3.00 s",
        );
        says(&[(0.0, 3.0)], 3.0, "no I/O on files was recorded");
        says(&[], 3.0, "no I/O on files was recorded");
    }

    #[test]
    fn a_process_that_ran_for_a_part_of_the_job_is_compared_with_all_of_it() {
        says(
            &[(0.1, 9.0), (1.0, 2.0)],
            10.0,
            "I/O took 1.00 s of 10.0 s (10 %) on the slowest process (rank 1, which ran for 2.00 s)",
        );
    }
}
