//! The lines before the records: the job, the regions of the log, the mounts.

use super::Zone;
use super::clock::ctime;
use super::number;
use super::page::Page;
use crate::read::{Log, Version};
use crate::record::header::SIZE;
use std::io;

const RULE: &str = "# -------------------------------------------------------\n";

pub(super) fn lines(log: &Log, zone: Zone<'_>, page: &mut Page<'_>) -> io::Result<()> {
    job(log, zone, page)?;
    regions(log, page)?;
    page.text("\n# mounted file systems (mount point and fs type)\n")?;
    page.text(RULE)?;
    for mount in log.names().mounts() {
        page.join(&[b"# mount entry:\t", &mount.point, b"\t", &mount.kind])?;
    }
    Ok(())
}

fn job(log: &Log, zone: Zone<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let (header, job) = (log.header(), log.job());
    let numbers = &job.numbers;
    if header.version == Version::V3_20 {
        page.text(
            "# WARNING: logs of Darshan 3.2.0 are known to hold wrong values, above all among the\n\
             #          most common access sizes of POSIX, MPI-IO and HDF5; other counters may be\n\
             #          wrong too.\n",
        )?;
    }
    page.line(format_args!("# darshan log version: {}", header.version.name()))?;
    page.line(format_args!("# compression method: {}", header.compression.name()))?;
    page.join(&[b"# exe: ", &job.exe])?;
    page.line(format_args!("# uid: {}", numbers.uid))?;
    page.line(format_args!("# jobid: {}", numbers.jobid))?;
    let local = |second: i64| ctime(second.saturating_add(zone(second)));
    page.line(format_args!("# start_time: {}", numbers.start_sec))?;
    page.line(format_args!("# start_time_asci: {}", local(numbers.start_sec)))?;
    page.line(format_args!("# end_time: {}", numbers.end_sec))?;
    page.line(format_args!("# end_time_asci: {}", local(numbers.end_sec)))?;
    page.line(format_args!("# nprocs: {}", numbers.nprocs))?;
    page.text.extend_from_slice(b"# run time: ");
    number::push_fixed(&mut page.text, run_time(log), 4);
    page.text("\n")?;
    for (key, value) in job.metadata() {
        page.join(&[b"# metadata: ", key, b" = ", value])?;
    }
    Ok(())
}

/// Seconds; logs before 3.41 count whole ones and both ends.
pub(crate) fn run_time(log: &Log) -> f64 {
    let job = log.job();
    if log.header().version < Version::V3_41 {
        let seconds = job.numbers.end_sec.wrapping_sub(job.numbers.start_sec);
        return seconds.wrapping_add(1) as f64;
    }
    job.end().0 - job.start().0
}

fn regions(log: &Log, page: &mut Page<'_>) -> io::Result<()> {
    page.text("\n# log file regions\n")?;
    page.text(RULE)?;
    page.line(format_args!("# header: {SIZE} bytes (uncompressed)"))?;
    page.line(format_args!("# job data: {} bytes (compressed)", log.job_length()))?;
    page.line(format_args!("# record table: {} bytes (compressed)", log.header().names.length))?;
    for region in log.header().regions() {
        let (length, version) = (region.extent.length, region.version);
        match region.module {
            Some(module) => page.line(format_args!(
                "# {module} module: {length} bytes (compressed), ver={version}"
            ))?,
            None => page.line(format_args!(
                "# <UNKNOWN> module (id {}): {length} bytes (compressed), ver={version}",
                region.code
            ))?,
        }
    }
    Ok(())
}
