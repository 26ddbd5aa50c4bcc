//! What is said when a recorded command has ended: a few lines for people, or a document for programs
//! (`docs/reference/run-json.md`).

use std::borrow::Cow;
use std::io::{Result, Write};
use std::path::Path;

use netra_analyse::is_of_mpi;
use netra_darshan::read::{Log, Record};
use netra_event::segment::{ANONYMOUS, PARTIAL, UNTRACED};
use netra_event::{Loss, Rank, Seconds};
use netra_stream::job::Job;
use netra_stream::source::Piece;

use crate::info::{percent, plural};
use crate::plain::{plain, shortened};
use crate::summary::{FileSum, Sum};
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
}

/// What the processes of a job did, each by its own log.
#[derive(Debug, Default)]
pub struct Run {
    processes: Vec<Process>,
    /// Names of the settings that leave calls out.
    leaving_out: Vec<&'static str>,
}

impl Run {
    /// A run in which these settings leave calls out.
    #[must_use]
    pub fn leaving_out(settings: &[&'static str]) -> Run {
        Run { processes: Vec::new(), leaving_out: settings.to_vec() }
    }

    /// Adds one process.
    pub fn process(&mut self, piece: &Piece, number: Option<Rank>, log: &Log) {
        let summary = summary(log);
        let ran = Seconds(log.job().end().0 - log.job().start().0);
        let called = match (piece.rank, number) {
            (Some(rank), _) => format!("rank {rank}"),
            _ => format!("process {}", piece.pid),
        };
        if number.is_some() {
            let io = Seconds(summary.critical(1).seconds);
            self.processes.push(Process { called, ran, io });
        }
    }

    /// Says it; `log` is the job's.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&self, out: &mut impl Write, job: &Job, log: &Log, colour: bool) -> Result<()> {
        let (bold, end) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let summary = summary(log);
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
            slowest_file(out, &summary, log)?;
        }
        completeness(out, job, &self.leaving_out)
    }

    /// The same for programs: one line, one document.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn json(&self, out: &mut impl Write, job: &Job, log: &Log, path: &Path) -> Result<()> {
        let summary = summary(log);
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
            Some(Process { called, ran, io }) => {
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
        slowest_file_json(&mut json, &summary, log)?;
        completeness_json(&mut json, job)?;
        json.close('}')?;
        json.finish()
    }

    /// The process that was longest in I/O, if any was.
    fn slowest(&self) -> Option<&Process> {
        let slowest = self.processes.iter().max_by(|a, b| a.io.0.total_cmp(&b.io.0));
        slowest.filter(|process| process.io.0 > 0.0)
    }

    /// The slowest process's time as a share of the job's, as everything else that netra says; its own life, where it
    /// was much shorter.
    fn time_line(&self, whole: Seconds) -> String {
        let Some(Process { called, ran, io }) = self.slowest() else {
            return "no I/O on files was recorded".to_owned();
        };
        let short =
            if ran.0 < SHORT * whole.0 { format!(", which ran for {ran}") } else { String::new() };
        let whose = match self.processes.len() {
            1 => String::new(),
            _ => format!(" on the slowest process ({called}{short})"),
        };
        if io.0 > ran.0 {
            return format!("I/O took {io}{whose}, over all its threads; the job ran for {whole}");
        }
        format!("I/O took {io} of {whole} ({}){whose}", percent(io.0 / whole.0))
    }
}

/// The sums of one log.
fn summary(log: &Log) -> Summary {
    let ran = Seconds(log.job().end().0 - log.job().start().0);
    let mut summary = Summary::new(log.modules(), ran);
    for module in log.modules() {
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            if let Record::Counters(record) = record {
                summary.add(module, &record);
            }
        }
    }
    summary
}

/// The file that took longest, if any took time; what MPI shares with itself is nobody's file.
fn slowest_of(summary: &Summary, log: &Log) -> Option<FileSum> {
    let top = summary.top(usize::MAX, log.names(), |sum: &Sum| sum.time().0);
    let is_own = |file: &FileSum| {
        log.names().get(file.id).is_some_and(|name| is_of_mpi(&String::from_utf8_lossy(name)))
    };
    top.into_iter().find(|file| !is_own(file)).filter(|file| file.sum.time().0 > 0.0)
}

fn slowest_file(out: &mut impl Write, summary: &Summary, log: &Log) -> Result<()> {
    let Some(file) = slowest_of(summary, log) else { return Ok(()) };
    let name = log.names().get(file.id).map(plain);
    let name = name.unwrap_or_else(|| format!("record {}", file.id).into());
    let Sum { read, written, .. } = file.sum;
    let moved = match (read.0, written.0) {
        (0, 0) => "no bytes moved".to_owned(),
        (_, 0) => format!("read {read}"),
        (0, _) => format!("wrote {written}"),
        _ => format!("read {read}, wrote {written}"),
    };
    writeln!(out, "       slowest file {}: {}, {moved}", shortened(&name, NAME), file.sum.time())
}

fn slowest_file_json(json: &mut Json<'_, impl Write>, summary: &Summary, log: &Log) -> Result<()> {
    json.key("slowest_file")?;
    let Some(file) = slowest_of(summary, log) else { return json.null() };
    json.open('{')?;
    json.key("name")?;
    json.bytes(log.names().get(file.id).unwrap_or_default())?;
    member::float(json, "seconds", file.sum.time().0)?;
    member::number(json, "bytes_read", file.sum.read.0)?;
    member::number(json, "bytes_written", file.sum.written.0)?;
    json.close('}')
}

/// Events there are and events there are not, flags, killed processes and notes.
fn completeness_json(json: &mut Json<'_, impl Write>, job: &Job) -> Result<()> {
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
    let killed = job.pieces().iter().filter(|piece| piece.was_killed());
    member::list(json, "killed", killed, |json, piece| json.unsigned(u64::from(piece.pid)))?;
    member::list(json, "notes", job.notes().keys(), |json, note| json.text(note))
}

/// What is missing, by reason, in sentences; counters never are.
fn completeness(out: &mut impl Write, job: &Job, settings: &[&str]) -> Result<()> {
    let mut dropped = job.dropped();
    let excluded = dropped.remove(&Loss::Excluded).unwrap_or(0);
    let missing = dropped.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let events = job.events();
    let flags = job.pieces().iter().fold(0, |flags, piece| flags | piece.flags);
    if missing == 0 && flags & UNTRACED != 0 {
        writeln!(out, "       counters are complete; calls were not traced, as asked")?;
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
        writeln!(out, "       complete: {} traced, none lost{aside}", calls(events))?;
    } else {
        let all = calls(events.saturating_add(missing));
        writeln!(out, "       counters are complete, the trace is not: of {all}")?;
        for (loss, count) in &dropped {
            writeln!(out, "       {count} are left out because {loss}{}", advice(*loss))?;
        }
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
    let killed: Vec<&Piece> = job.pieces().iter().filter(|piece| piece.was_killed()).collect();
    if !killed.is_empty() {
        let number = plural(count(killed.len()), "process was", "processes were");
        writeln!(
            out,
            "       {number} killed; what it had recorded is in the log: {}",
            names(&killed)
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
        };
        let run = Run { processes: processes.iter().enumerate().map(process).collect() };
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
        says(&[(9.0, 3.0)], 3.0, "I/O took 9.00 s, over all its threads; the job ran for 3.00 s");
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
