//! What every JSON document about a log begins and ends with: the log, its job, what is missing.

use std::io::{Result, Write};

use netra_darshan::read::{Log, Order, Region, Version};
use netra_darshan::{Damage, Part};
use netra_event::Seconds;

use crate::Json;
use crate::time::nanos;

/// How long the job ran. Before log version 3.41 there are whole seconds only, of which the last
/// was at least begun.
pub(crate) fn run_time(log: &Log) -> Seconds {
    let job = &log.job().numbers;
    let seconds = job.end_sec.saturating_sub(job.start_sec) as f64;
    if log.header().version < Version::V3_41 {
        return Seconds(seconds + 1.0);
    }
    let nanos = job.end_nsec.saturating_sub(job.start_nsec) as f64;
    Seconds(seconds + nanos / 1e9)
}

/// The members that say which log this is, and about its job.
pub(crate) fn log<W: Write>(json: &mut Json<'_, W>, path: &str, log: &Log) -> Result<()> {
    let header = log.header();
    json.key("log")?;
    json.text(path)?;
    json.key("size_bytes")?;
    json.unsigned(log.file_length())?;
    json.key("version")?;
    json.text(header.version.name())?;
    json.key("compression")?;
    json.text(&header.compression.name().to_lowercase())?;
    json.key("byte_order")?;
    json.text(if header.order == Order::Little { "little" } else { "big" })?;
    json.line()?;
    job(json, log)?;
    json.line()?;
    json.key("mounts")?;
    json.open('[')?;
    for mount in log.names().mounts() {
        json.open('{')?;
        json.key("path")?;
        json.bytes(&mount.point)?;
        json.key("type")?;
        json.bytes(&mount.kind)?;
        json.close('}')?;
    }
    json.close(']')
}

fn job<W: Write>(json: &mut Json<'_, W>, log: &Log) -> Result<()> {
    let job = log.job();
    let numbers = &job.numbers;
    json.key("job")?;
    json.open('{')?;
    json.key("id")?;
    json.int(numbers.jobid)?;
    json.key("uid")?;
    json.int(numbers.uid)?;
    json.key("processes")?;
    json.int(numbers.nprocs)?;
    json.key("start_ns")?;
    json.int(nanos(numbers.start_sec, numbers.start_nsec))?;
    json.key("end_ns")?;
    json.int(nanos(numbers.end_sec, numbers.end_nsec))?;
    json.key("run_time_seconds")?;
    json.float(run_time(log).0)?;
    json.key("command")?;
    json.bytes(&job.exe)?;
    json.key("metadata")?;
    json.open('{')?;
    for (key, value) in job.metadata() {
        json.key(&String::from_utf8_lossy(key))?;
        json.bytes(value)?;
    }
    json.close('}')?;
    json.close('}')
}

/// The members that say which module this is and where it lies.
pub(crate) fn module<W: Write>(json: &mut Json<'_, W>, region: &Region) -> Result<()> {
    json.key("name")?;
    json.text(region.module.map_or("unknown", |module| module.name()))?;
    json.key("code")?;
    json.unsigned(u64::from(region.code))?;
    json.key("version")?;
    json.unsigned(u64::from(region.version))?;
    json.key("offset")?;
    json.unsigned(region.extent.offset)?;
    json.key("stored_bytes")?;
    json.unsigned(region.extent.length)?;
    json.key("partial")?;
    json.truth(region.partial)
}

/// The member that says what is missing, which is known only after everything was read.
pub(crate) fn missing<W: Write>(json: &mut Json<'_, W>, damage: &[Damage]) -> Result<()> {
    json.key("missing")?;
    json.open('[')?;
    for one in damage {
        json.open('{')?;
        part(json, one)?;
        json.close('}')?;
    }
    json.close(']')
}

/// The members that say which part is missing.
pub(crate) fn part<W: Write>(json: &mut Json<'_, W>, one: &Damage) -> Result<()> {
    json.key("part")?;
    json.text(&one.part.to_string())?;
    json.key("module")?;
    match one.part {
        Part::Module(module) => json.text(module.name())?,
        _ => json.null()?,
    }
    json.key("byte")?;
    json.unsigned(one.at)?;
    json.key("reason")?;
    json.text(&one.reason.to_string())
}
