//! `netra convert`: a log is written again, otherwise compressed, with fewer files, or without what
//! identifies people and places.

use std::hash::{BuildHasher as _, RandomState};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use glob::Pattern;
use netra_darshan::convert::{Anonymise, Converted, Options, convert};
use netra_darshan::read::Log;
use netra_event::RecordId;
use netra_show::rewrite::{Inputs, Rewrite};

use super::account::Account;
use super::reading::{self, Compress, Format};
use crate::draft::Draft;
use crate::input;
use crate::open::Opener;
use crate::outcome::Outcome;
use crate::output::is_standard;

const EXAMPLES: &str = "\
A log of any version becomes one of the current version.

Examples:
  netra convert old.darshan -o new.darshan
  netra convert --compress bzip2 logs/2025 -o archive/
  netra convert --anonymise all job.darshan -o public.darshan
  netra convert --anonymise names,mounts --key 42 'logs/*.darshan' -o public/
  netra convert --file '/scratch/*.h5' job.darshan -o h5.darshan";

/// A part of a log that can be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Names of files, data sets and objects
    Names,
    /// The command line
    Exe,
    /// The user
    Uid,
    /// The job's number
    Jobid,
    /// Mount points, pools and containers
    Mounts,
    /// What the library noted about the run
    Metadata,
    /// Names of hosts
    Hosts,
    /// All of these
    All,
}

/// Which logs, and what they become.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs, folders of logs, or quoted patterns
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The new log; a folder for several; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// How to compress the new log
    #[arg(long, value_enum, default_value = "zlib", value_name = "METHOD")]
    compress: Compress,
    /// What to hide, each as a hash: equal things stay equal
    #[arg(long, alias = "anonymize", value_enum, value_delimiter = ',', value_name = "PARTS")]
    anonymise: Vec<Part>,
    /// The key of the hashes, so that several runs agree; otherwise nobody knows it
    #[arg(long, value_name = "NUMBER", requires = "anonymise", allow_negative_numbers = true)]
    key: Option<u64>,
    /// Forget which thread made a call: PyDarshan 3.5.0 does not read traces that know
    #[arg(long)]
    drop_threads: bool,
    /// Keep only files whose name matches this pattern, or whose record id this is (repeatable)
    #[arg(long, value_name = "PATTERN")]
    file: Vec<String>,
    /// How to say what was written
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

impl Args {
    fn anonymise(&self) -> Anonymise {
        let has = |part| self.anonymise.contains(&part) || self.anonymise.contains(&Part::All);
        Anonymise {
            names: has(Part::Names),
            exe: has(Part::Exe),
            uid: has(Part::Uid),
            jobid: has(Part::Jobid),
            mounts: has(Part::Mounts),
            metadata: has(Part::Metadata),
            hosts: has(Part::Hosts),
            // std seeds it from the system's randomness.
            key: self.key.unwrap_or_else(|| RandomState::new().hash_one(0)),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let paths = input::expand(&args.logs)?;
    let selection = Selection::new(&args.file)?;
    let into_folder = args.output.is_dir();
    if paths.len() > 1 && !into_folder {
        bail!("{} logs need a folder to go to; {} is none", paths.len(), args.output.display());
    }
    let stays = |id: RecordId, name: Option<&[u8]>| selection.has(id, name);
    let options = Options {
        compression: args.compress.into(),
        anonymise: args.anonymise(),
        select: if args.file.is_empty() { None } else { Some(&stays) },
        drop_threads: args.drop_threads,
    };
    let mut outcome = Outcome::default();
    let opener = Opener::new(&paths);
    let mut account = Account::new(args.format, &args.output)?;
    for path in &paths {
        match opener.open(path) {
            Ok(log) => {
                let output = target(&args.output, path, into_folder);
                let (new, converted) = one(&log, &options, &output)
                    .with_context(|| format!("converting {}", path.display()))?;
                opener.clear();
                reading::complain(path, &converted.damage);
                outcome.read(converted.damage.is_empty());
                let mut inputs = Inputs::default();
                inputs.add(&path.to_string_lossy(), &log);
                account.say(&Rewrite {
                    output: &output.to_string_lossy(),
                    inputs: &inputs,
                    log: &new,
                    records: converted.records,
                    hidden: options.anonymise,
                    section_left_out: converted.section_left_out,
                    missing: &converted.damage.into_iter().map(|one| (0, one)).collect::<Vec<_>>(),
                })?;
            }
            Err(error) => outcome.unreadable(path, &error.into()),
        }
    }
    Ok(outcome)
}

/// In a folder, a log keeps its name.
fn target(output: &Path, path: &Path, into_folder: bool) -> PathBuf {
    match path.file_name() {
        Some(name) if into_folder && !is_standard(output) => output.join(name),
        _ => output.to_owned(),
    }
}

fn one(log: &Log, options: &Options<'_>, output: &Path) -> Result<(Log, Converted)> {
    let draft = Draft::new(output)?;
    let out = BufWriter::with_capacity(1 << 20, draft.file()?);
    let (_, converted) = convert(log, options, out)?;
    let new = draft.log()?;
    draft.publish()?;
    Ok((new, converted))
}

/// Which files stay.
struct Selection {
    ids: Vec<RecordId>,
    patterns: Vec<Pattern>,
}

impl Selection {
    fn new(words: &[String]) -> Result<Selection> {
        let mut selection = Selection { ids: Vec::new(), patterns: Vec::new() };
        for word in words {
            match word.parse() {
                Ok(id) => selection.ids.push(RecordId(id)),
                Err(_) => selection
                    .patterns
                    .push(Pattern::new(word).with_context(|| format!("{word} is not a pattern"))?),
            }
        }
        Ok(selection)
    }

    fn has(&self, id: RecordId, name: Option<&[u8]>) -> bool {
        let name = name.map(String::from_utf8_lossy);
        self.ids.contains(&id)
            || name.is_some_and(|name| self.patterns.iter().any(|pattern| pattern.matches(&name)))
    }
}
