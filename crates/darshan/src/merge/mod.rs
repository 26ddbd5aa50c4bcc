//! Logs of single processes become one log of the job.

mod align;
mod heatmap;
mod names;
mod share;

use crate::damage::Damage;
use crate::read::{Job, Log, Record};
use crate::record::header::Compression;
use crate::section::Attendance;
use crate::section::layout::KIND_ATTENDANCE;
use crate::write::{Writer, copy_records};
use crate::{Error, Result, counter};
use align::Shift;
use netra_event::Module;
use share::Sharing;
use std::io::{Seek, Write};

/// How logs are merged.
#[derive(Debug, Default, Clone, Copy)]
pub struct Options<'a> {
    /// How the result is compressed.
    pub compression: Compression,
    /// Whether records that every rank has become one record of rank −1.
    pub shared: bool,
    /// How many of the processes are ranks, the first ones; all where it is not said. What others did
    /// beside them, before or after, stays theirs. The result says it, where it is not all.
    pub ranks: Option<u32>,
    /// Whether traces forget threads: the tools of Darshan 3.5.0 and before can not read traces that
    /// tell them.
    pub drop_threads: bool,
    /// The place of the log that says what the job is: its program, number, user and mounts.
    pub speaker: usize,
    /// When the job ended, if it is known better than the logs know it: seconds since 1970.
    pub end_sec: Option<i64>,
    /// Who there was in the job, which the result's section then says.
    pub attendance: Option<&'a Attendance>,
}

/// What merging did.
#[derive(Debug, Default)]
pub struct Merged {
    /// What could not be taken over, each with the place of its log among the inputs.
    pub damage: Vec<(usize, Damage)>,
    /// Records written.
    pub records: u64,
    /// Records that every rank had, and that became one.
    pub reduced: u64,
}

/// Merges logs. The job is that of the log that speaks for all, from the earliest start to the latest end; times in
/// records are moved from their own process's start to that of the job.
///
/// # Errors
/// If there are no logs, if two logs disagree about a name, or if the output can not be written.
/// What is damaged is left out and reported, and its module is marked as incomplete.
pub fn merge<W: Write + Seek>(
    mut logs: Vec<Log>,
    options: Options<'_>,
    out: W,
) -> Result<(W, Merged)> {
    let job = job(&logs, &options).ok_or(Error::NoInput)?;
    let names = names::union(&mut logs)?;
    let mut merged = Merged::default();
    for (at, log) in logs.iter().enumerate() {
        merged.damage.extend(log.damage().iter().map(|damage| (at, damage.clone())));
    }
    let shifts: Vec<Shift> = logs.iter().map(|log| Shift::new(log, &job)).collect();
    let mut writer = Writer::new(out, options.compression, &job, names.iter())?;
    let ranks = options.ranks.map_or(job.numbers.nprocs, i64::from);
    let inputs = Inputs { logs, shifts, ranks };
    for &module in Module::ALL {
        let threads = inputs.logs.iter().any(|log| log.has_threads(module));
        writer.keep_threads(threads && !options.drop_threads)?;
        inputs.module(module, options.shared, &mut writer, &mut merged)?;
    }
    merged.records = writer.records();
    inputs.sections(&mut writer, &mut merged)?;
    if let Some(attendance) = options.attendance {
        writer.block(KIND_ATTENDANCE, &attendance.encode())?;
    }
    Ok((writer.finish()?, merged))
}

/// The job of the log that speaks for all, with the times of all.
fn job(logs: &[Log], options: &Options<'_>) -> Option<Job> {
    let mut job = logs.get(options.speaker)?.job().clone();
    for other in logs.iter().map(|log| &log.job().numbers) {
        let numbers = &mut job.numbers;
        if (other.start_sec, other.start_nsec) < (numbers.start_sec, numbers.start_nsec) {
            (numbers.start_sec, numbers.start_nsec) = (other.start_sec, other.start_nsec);
        }
        if (other.end_sec, other.end_nsec) > (numbers.end_sec, numbers.end_nsec) {
            (numbers.end_sec, numbers.end_nsec) = (other.end_sec, other.end_nsec);
        }
        numbers.nprocs = numbers.nprocs.max(other.nprocs);
    }
    let several = job.numbers.nprocs.max(1);
    if let Some(ranks) =
        options.ranks.filter(|_| several > 1).filter(|&ranks| i64::from(ranks) < several)
    {
        job.say_ranks(ranks);
    }
    if let Some(end) = options.end_sec {
        (job.numbers.end_sec, job.numbers.end_nsec) = (end, 0);
    }
    Some(job)
}

/// The logs to merge, and how far each one's clock is behind.
struct Inputs {
    logs: Vec<Log>,
    shifts: Vec<Shift>,
    ranks: i64,
}

impl Inputs {
    fn module<W: Write + Seek>(
        &self,
        module: Module,
        shared: bool,
        writer: &mut Writer<W>,
        merged: &mut Merged,
    ) -> Result<()> {
        let with: Vec<usize> = (0..self.logs.len())
            .filter(|&at| {
                let region = self.logs[at].header().region(module);
                region.extent.length > 0 || region.partial
            })
            .collect();
        if with.iter().any(|&at| self.logs[at].header().region(module).partial) {
            writer.set_partial(module);
        }
        let before = merged.damage.len();
        match module {
            _ if with.is_empty() => {}
            Module::Heatmap => self.heatmaps(&with, writer, merged)?,
            Module::Apmpi | Module::Apxc => self.headed(module, &with, writer, merged)?,
            _ if shared && Sharing::applies(module) => {
                self.shared(module, &with, writer, merged)?
            }
            _ => self.copied(module, &with, writer, merged, |at, writer, record| {
                self.shifts[at].write(module, record, writer)
            })?,
        }
        if merged.damage.len() > before {
            writer.set_partial(module);
        }
        Ok(())
    }

    /// Writes a module's records of each log as `act` says, and keeps what was missing.
    fn copied<W: Write + Seek>(
        &self,
        module: Module,
        with: &[usize],
        writer: &mut Writer<W>,
        merged: &mut Merged,
        mut act: impl FnMut(usize, &mut Writer<W>, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        for &at in with {
            let damage = copy_records(&self.logs[at], module, writer, |writer, record| {
                act(at, writer, record)
            })?;
            merged.damage.extend(damage.into_iter().map(|damage| (at, damage)));
        }
        Ok(())
    }

    /// Modules that begin with a head for the whole log: the first one's serves for all.
    fn headed<W: Write + Seek>(
        &self,
        module: Module,
        with: &[usize],
        writer: &mut Writer<W>,
        merged: &mut Merged,
    ) -> Result<()> {
        let mut headed = false;
        self.copied(module, with, writer, merged, |_, writer, record| {
            let head = matches!(record, Record::ApmpiHead(_) | Record::ApxcHead(_));
            if head && std::mem::replace(&mut headed, true) {
                return Ok(());
            }
            writer.record(module, record)
        })
    }

    fn heatmaps<W: Write + Seek>(
        &self,
        with: &[usize],
        writer: &mut Writer<W>,
        merged: &mut Merged,
    ) -> Result<()> {
        let logs: Vec<(&Log, f64)> =
            with.iter().map(|&at| (&self.logs[at], self.shifts[at].seconds())).collect();
        let frame = heatmap::Frame::around(&logs);
        self.copied(Module::Heatmap, with, writer, merged, |at, writer, record| {
            frame.write(record, self.shifts[at].seconds(), writer)
        })
    }

    /// Two passes: the first finds out what every rank has, the second writes.
    fn shared<W: Write + Seek>(
        &self,
        module: Module,
        with: &[usize],
        writer: &mut Writer<W>,
        merged: &mut Merged,
    ) -> Result<()> {
        let mut sharing = Sharing::new(module, self.ranks);
        for &at in with {
            let mut records = self.logs[at].records(module);
            while let Some(record) = records.next_record() {
                sharing.count(record.id(), record.rank());
            }
        }
        for &at in with {
            let damage = copy_records(&self.logs[at], module, writer, |writer, record| {
                self.shifts[at].shifted(module, record, |record| match sharing.take(&record) {
                    true => Ok(()),
                    false => writer.record(module, record),
                })
            })?;
            merged.damage.extend(damage.into_iter().map(|damage| (at, damage)));
        }
        merged.reduced += sharing.write(writer)?;
        Ok(())
    }

    fn sections<W: Write + Seek>(&self, writer: &mut Writer<W>, merged: &mut Merged) -> Result<()> {
        for (at, log) in self.logs.iter().enumerate() {
            let section = log.section();
            merged.damage.extend(section.damage().iter().map(|damage| (at, damage.clone())));
            for block in section.blocks() {
                let damage = writer.copy_block(block)?;
                merged.damage.extend(damage.map(|damage| (at, damage)));
            }
        }
        Ok(())
    }
}

/// Whether a module's records are counters of the current version, which all rules are made for.
fn is_counters(module: Module) -> bool {
    crate::record::layout(module, counter::version(module)).is_some()
}
