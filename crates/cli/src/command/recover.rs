//! `netra recover`: segments that killed processes left become logs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use netra_darshan::Log;
use netra_event::Loss;
use netra_show::run::Run;
use netra_stream::job::{Job, Name, Target, Written};
use netra_stream::source::{Life, Piece, Roll, scan};

use super::reading::Told;
use crate::collect;
use crate::output;
use crate::surroundings;

const EXAMPLES: &str = "\
Processes that were killed leave what they had recorded in a segment. Each job becomes one log;
its segments are removed when the log is safe on disk and their processes are gone. Ranks that
wrote a log together leave segments where there is more than is in it; the new log has both, and
takes the place of the first. Of runs of netra run that were killed with their command, the logs
of processes that had ended before are taken too: where logs go, here, and in the folders named.

Examples:
  netra recover                          all jobs of yours whose processes died on this host
  netra recover -o job.darshan           the same, where there is only one job
  netra recover /dev/shm/netra-1000      segments that lie elsewhere
  netra recover --keep SEGMENT           a look at a process that still runs";

/// Which segments, and where the log goes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Segments, or folders of segments [default: where this user's segments lie]
    #[arg(value_name = "DIR|SEGMENT")]
    from: Vec<PathBuf>,
    /// Write the log to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "log_dir")]
    output: Option<PathBuf>,
    /// Write logs below this folder
    #[arg(long, value_name = "DIR")]
    log_dir: Option<PathBuf>,
    /// Leave the segments where they are
    #[arg(long)]
    keep: bool,
    /// How to say what was recovered: JSON, a document for each job, goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
}

/// Nothing could be read.
const NOTHING: u8 = 2;
/// Something was missing.
const MISSING: u8 = 1;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut found = Found::default();
    if args.from.is_empty() {
        let mut places = places();
        places.extend(args.log_dir.clone());
        found.runs(&places);
        found.folder(&surroundings::segments())?;
    }
    for path in &args.from {
        if path.is_dir() {
            found.runs(&BTreeSet::from([path.clone()]));
            found.folder(path)?;
        } else {
            found.file(path);
        }
    }
    found.logs();
    let jobs = Job::group(std::mem::take(&mut found.pieces));
    let jobs: Vec<Job> = jobs.into_iter().map(|job| found.call(job)).collect();
    if jobs.is_empty() {
        return Ok(found.nothing());
    }
    if args.output.is_some() && jobs.len() > 1 {
        let keys: Vec<String> = jobs.iter().map(Job::key).collect();
        bail!("segments of {} jobs can not become one file: {}", jobs.len(), keys.join(", "));
    }
    let target = surroundings::target(args.output.as_deref(), args.log_dir.as_deref())?;
    let mut complete = found.unreadable == 0;
    for job in &jobs {
        complete &= args.recover(job, &target).with_context(|| format!("job {}", job.key()))?;
    }
    if !args.keep {
        found.clear();
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(MISSING) })
}

/// Where runs of `netra run` may have left their folders: where logs go, and here.
pub(crate) fn places() -> BTreeSet<PathBuf> {
    let mut places: BTreeSet<PathBuf> = std::env::current_dir().into_iter().collect();
    match surroundings::target(None, None) {
        Ok(Target::File(path)) => places.extend(path.parent().map(Path::to_owned)),
        Ok(Target::Folder(folder) | Target::Once(folder)) => places.extend([folder]),
        // Without a place for logs there is none for those folders either.
        Err(_) => {}
    }
    places
}

/// What was looked at.
#[derive(Default)]
struct Found {
    pieces: Vec<Piece>,
    /// Folders of runs that are gone, with their rolls.
    runs: Vec<(PathBuf, Roll)>,
    unreadable: usize,
    running: usize,
}

impl Found {
    /// Takes what runs that are gone have left below these folders.
    fn runs(&mut self, places: &BTreeSet<PathBuf>) {
        for folder in collect::left_behind(places) {
            let found = collect::rest_of(&folder, &surroundings::segments());
            for complaint in &found.complaints {
                self.unreadable += 1;
                eprintln!("netra: {complaint}");
            }
            let (over, running): (Vec<Piece>, Vec<Piece>) =
                found.pieces.into_iter().partition(|piece| piece.life != Life::Running);
            self.running += running.len();
            self.pieces.extend(over);
            self.runs.push((folder, found.roll));
        }
    }

    /// The roll of a job's run belongs to it.
    fn call(&self, job: Job) -> Job {
        let name =
            |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let key = job.key();
        let mut numbers = key.rsplitn(3, '.');
        let (start, pid) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        let end = format!("-{pid}-{start}");
        let is_its = |folder: &Path| name(folder).is_some_and(|name| name.ends_with(&end));
        match self.runs.iter().find(|(folder, _)| is_its(folder)) {
            Some((_, roll)) => job.called(roll),
            None => job,
        }
    }

    /// Removes the folders of runs of which nothing is left.
    fn clear(&self) {
        for (folder, _) in &self.runs {
            if collect::logs_below(folder).is_empty() {
                // What a live run had kept is in the log.
                std::fs::remove_dir_all(folder.join("live")).ok();
            }
            collect::clear(folder);
        }
    }

    /// Takes a folder's segments, except those of processes that still run: their logs come.
    fn folder(&mut self, folder: &Path) -> Result<()> {
        for path in scan(folder)? {
            match Piece::of_segment(&path, Some(surroundings::uid())) {
                // A run's have been taken with what else it left.
                Ok(piece) if self.pieces.iter().any(|known| known.path == piece.path) => {}
                Ok(piece) if piece.life == Life::Running => self.running += 1,
                Ok(piece) => self.pieces.push(piece),
                Err(error) => self.complain(error),
            }
        }
        Ok(())
    }

    /// Takes a segment that was named, whatever its process does.
    fn file(&mut self, path: &Path) {
        match Piece::of_segment(path, None) {
            Ok(piece) => self.pieces.push(piece),
            Err(error) => self.complain(error),
        }
    }

    /// Takes the logs that ranks wrote together and that these segments have more than: one log comes of
    /// both, and takes the place of the other.
    fn logs(&mut self) {
        let joined: BTreeSet<(PathBuf, Vec<u8>)> = self
            .pieces
            .iter()
            .filter_map(|piece| Some((piece.log.clone()?, piece.job.clone())))
            .collect();
        for (path, job) in joined.into_iter().filter(|(path, _)| path.exists()) {
            match Piece::of_log(&path) {
                Ok(pieces) => self.pieces.extend(pieces.into_iter().filter(|p| p.job == job)),
                Err(error) => self.complain(error),
            }
        }
    }

    fn complain(&mut self, error: netra_stream::Error) {
        self.unreadable += 1;
        eprintln!("netra: {:#}", anyhow::Error::from(error));
    }

    fn nothing(&self) -> ExitCode {
        if self.unreadable > 0 {
            return ExitCode::from(NOTHING);
        }
        let running = match self.running {
            0 => String::new(),
            count => format!(" ({count} belong to processes that still run)"),
        };
        eprintln!("netra: there are no segments to recover{running}");
        ExitCode::SUCCESS
    }
}

impl Args {
    /// Makes the log of one job; false if something is missing from it.
    fn recover(&self, job: &Job, target: &Target) -> Result<bool> {
        let name = Name { user: &surroundings::user(), program: None };
        let mut summary = Run::default();
        let written = job.write(target, name, &mut |piece, number, log| {
            summary.process(piece, number, log);
        })?;
        for (path, error) in &written.left_out {
            eprintln!("netra: {} is left out: {error:#}", path.display());
        }
        for (path, damage) in &written.damage {
            eprintln!("netra: {}: {}", path.display(), netra_show::sentence(damage));
        }
        let mut dropped = job.dropped();
        // What a setting keeps out is not missed.
        dropped.remove(&Loss::Excluded);
        match self.format {
            Told::Text => tell(job, &written, &dropped),
            Told::Json => {
                let mut out = output::standard()?;
                summary.json(&mut out, job, &Log::open(&written.path)?, &written.path)?;
                out.flush()?;
            }
        }
        if !self.keep {
            match job.remove(&written) {
                0 => {}
                kept => {
                    eprintln!("netra: {kept} segments stay: not read, or of processes that run");
                }
            }
        }
        Ok(written.left_out.is_empty() && written.damage.is_empty() && dropped.is_empty())
    }
}

/// Says what was recovered, for people.
fn tell(job: &Job, written: &Written, dropped: &BTreeMap<Loss, u64>) {
    let processes = job.pieces().len() - written.left_out.len();
    let noun = if processes == 1 { "process" } else { "processes" };
    let (path, key) = (written.path.display(), job.key());
    eprintln!("netra: job {key}: {processes} {noun}, {} events -> {path}", job.events());
    for (loss, count) in dropped {
        eprintln!("netra: {count} events are not in it because {loss}");
    }
    let attendance = job.attendance();
    for said in attendance.into_iter().flat_map(|all| [all.caveats(), all.wished()].concat()) {
        eprintln!("netra: {said}");
    }
    for note in job.notes().keys() {
        eprintln!("netra: note: {note}");
    }
}
