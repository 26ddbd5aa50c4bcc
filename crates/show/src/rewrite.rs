//! A log that was made of others: what went in, what came out, and what did not come along. The
//! fields are described in `docs/reference/rewrite.md`.

use std::collections::HashSet;
use std::io::{Result, Write};

use netra_darshan::Damage;
use netra_darshan::convert::{Anonymise, is_fixed};
use netra_darshan::read::Log;
use netra_event::{Bytes, Module, RecordId};

use crate::info::plural;
use crate::plain::plain;
use crate::{Json, csv, head, member};

/// What went in.
#[derive(Debug, Default)]
pub struct Inputs {
    paths: Vec<String>,
    unreadable: Vec<String>,
    bytes: u64,
    modules: HashSet<Module>,
    files: HashSet<RecordId>,
    section: bool,
}

impl Inputs {
    /// Adds a log.
    pub fn add(&mut self, path: &str, log: &Log) {
        self.paths.push(path.to_owned());
        self.bytes += log.file_length();
        self.modules.extend(log.modules());
        self.files.extend(files(log));
        self.section |= !log.section().blocks().is_empty();
    }

    /// Adds a log of which nothing could be read.
    pub fn unreadable(&mut self, path: &str) {
        self.unreadable.push(path.to_owned());
    }
}

/// Whatever has a name of its own, unless Darshan made the name up.
fn files(log: &Log) -> impl Iterator<Item = RecordId> + '_ {
    log.names().iter().filter(|(_, name)| !is_fixed(name)).map(|(id, _)| id)
}

/// What came of it.
#[derive(Debug)]
pub struct Rewrite<'a> {
    /// Where the new log is.
    pub output: &'a str,
    /// What it was made of.
    pub inputs: &'a Inputs,
    /// The new log.
    pub log: &'a Log,
    /// Records written.
    pub records: u64,
    /// What was hidden.
    pub hidden: Anonymise,
    /// Whether there was a netra section that must not come along.
    pub section_left_out: bool,
    /// What is missing, each with the place of its log among the inputs.
    pub missing: &'a [(usize, Damage)],
}

const SECTION_REASON: &str = "it names files and hosts";

impl Rewrite<'_> {
    /// For people: a line, and another one if something did not come along.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&self, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "{}: {}, {}, {} and {} from {}; {} -> {}",
            if self.output == "-" {
                "standard output".into()
            } else {
                plain(self.output.as_bytes())
            },
            plural(self.log.job().numbers.nprocs, "process", "processes"),
            many(self.log.modules().count(), "module"),
            plural(self.records.cast_signed(), "record", "records"),
            many(files(self.log).count(), "file"),
            many(self.inputs.paths.len(), "log"),
            Bytes(self.inputs.bytes),
            Bytes(self.log.file_length()),
        )?;
        let remarks = self.remarks();
        if remarks.is_empty() { Ok(()) } else { writeln!(out, "  {}", remarks.join("; ")) }
    }

    fn remarks(&self) -> Vec<String> {
        let mut left_out: Vec<String> =
            self.modules_left_out().iter().map(ToString::to_string).collect();
        if self.files_left_out() > 0 {
            left_out.insert(0, many(self.files_left_out(), "file"));
        }
        if self.section_left_out {
            left_out.push(format!("netra's own section ({SECTION_REASON})"));
        }
        let mut absent = Vec::new();
        if !self.missing.is_empty() {
            absent.push(format!("{} of the inputs", many(self.missing.len(), "part")));
        }
        if !self.inputs.unreadable.is_empty() {
            absent.push(format!("{} unreadable", many(self.inputs.unreadable.len(), "log")));
        }
        let hidden = hidden(self.hidden).map(str::to_owned).collect();
        [("left out", left_out), ("hidden", hidden), ("missing", absent)]
            .into_iter()
            .filter(|(_, what)| !what.is_empty())
            .map(|(title, what)| format!("{title}: {}", what.join(", ")))
            .collect()
    }

    /// For machines.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn json<W: Write>(&self, out: &mut W) -> Result<()> {
        let mut json = Json::new(out);
        json.open('{')?;
        member::text(&mut json, "output", self.output)?;
        member::list(&mut json, "inputs", &self.inputs.paths, |json, path| json.text(path))?;
        member::list(&mut json, "unreadable", &self.inputs.unreadable, |json, path| {
            json.text(path)
        })?;
        member::number(&mut json, "input_bytes", self.inputs.bytes)?;
        member::number(&mut json, "output_bytes", self.log.file_length())?;
        member::integer(&mut json, "processes", self.log.job().numbers.nprocs)?;
        member::list(&mut json, "modules", self.log.modules(), |json, one| json.text(one.name()))?;
        member::number(&mut json, "records", self.records)?;
        member::number(&mut json, "files", files(self.log).count() as u64)?;
        let modules = self.modules_left_out();
        member::list(&mut json, "modules_left_out", modules, |json, one| json.text(one.name()))?;
        member::number(&mut json, "files_left_out", self.files_left_out() as u64)?;
        member::list(&mut json, "hidden", hidden(self.hidden), |json, part| json.text(part))?;
        member::text(&mut json, "section", self.section())?;
        let reason = self.section_left_out.then_some(SECTION_REASON);
        member::optional(&mut json, "section_reason", reason)?;
        member::list(&mut json, "missing", self.missing, |json, (place, damage)| {
            json.open('{')?;
            member::optional(json, "log", self.inputs.paths.get(*place).map(String::as_str))?;
            head::part(json, damage)?;
            json.close('}')
        })?;
        json.close('}')?;
        json.finish()
    }

    /// A row for each new log; lists are counted, except those of a few words.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn csv(&self, out: &mut impl Write) -> Result<()> {
        let only = match self.inputs.paths.as_slice() {
            [path] => path.clone(),
            _ => String::new(),
        };
        let modules: Vec<&str> = self.modules_left_out().iter().map(|one| one.name()).collect();
        let columns = [
            self.output.to_owned(),
            only,
            self.inputs.paths.len().to_string(),
            self.inputs.unreadable.len().to_string(),
            self.inputs.bytes.to_string(),
            self.log.file_length().to_string(),
            self.log.job().numbers.nprocs.to_string(),
            self.log.modules().count().to_string(),
            self.records.to_string(),
            files(self.log).count().to_string(),
            modules.join(" "),
            self.files_left_out().to_string(),
            hidden(self.hidden).collect::<Vec<_>>().join(" "),
            self.section().to_owned(),
            self.missing.len().to_string(),
        ];
        csv::row(out, columns.iter().map(String::as_str))
    }

    fn modules_left_out(&self) -> Vec<Module> {
        let kept: HashSet<Module> = self.log.modules().collect();
        let left_out =
            |module: &Module| self.inputs.modules.contains(module) && !kept.contains(module);
        Module::ALL.iter().copied().filter(left_out).collect()
    }

    fn files_left_out(&self) -> usize {
        self.inputs.files.len().saturating_sub(files(self.log).count())
    }

    fn section(&self) -> &'static str {
        match (self.inputs.section, self.section_left_out) {
            (_, true) => "left_out",
            (false, _) => "none",
            _ if self.log.section().blocks().is_empty() => "lost",
            _ => "kept",
        }
    }
}

/// The header line of [`Rewrite::csv`].
///
/// # Errors
/// If the output can not be written.
pub fn csv_header(out: &mut impl Write) -> Result<()> {
    out.write_all(
        b"output,input,inputs,unreadable,input_bytes,output_bytes,processes,modules,records,files,\
          modules_left_out,files_left_out,hidden,section,missing\n",
    )
}

/// The words of `--anonymise`.
fn hidden(what: Anonymise) -> impl Iterator<Item = &'static str> {
    let Anonymise { names, exe, uid, jobid, mounts, metadata, hosts, key: _ } = what;
    [
        (names, "names"),
        (exe, "exe"),
        (uid, "uid"),
        (jobid, "jobid"),
        (mounts, "mounts"),
        (metadata, "metadata"),
        (hosts, "hosts"),
    ]
    .into_iter()
    .filter_map(|(is_hidden, word)| is_hidden.then_some(word))
}

fn many(count: usize, noun: &str) -> String {
    plural(count as i64, noun, &format!("{noun}s"))
}
