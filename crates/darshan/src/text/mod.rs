//! What `darshan-parser` and `darshan-dxt-parser` print, byte for byte; only the explanations in
//! comment lines are our own words.
//!
//! Lines are put together in a buffer that is written out when it is full: this is what a command
//! spends its time on.

mod base;
mod clock;
mod derived;
mod dxt;
mod explain;
mod header;
pub mod number;
mod own;
mod page;
mod row;

pub use dxt::traces;
pub use page::Page;

use crate::damage::Damage;
use crate::missing::Missing;
use crate::read::{Log, Record};
use crate::reduce::Total;
use crate::reduce::derived::Derived;
use netra_event::Module;
use std::io::{self, Write};

/// How far local time is ahead of UTC at a given second since 1970, in seconds.
pub type Zone<'a> = &'a dyn Fn(i64) -> i64;

/// What to print.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// A line for each counter of each record.
    pub base: bool,
    /// Totals over the records of a module.
    pub total: bool,
    /// Categories of files.
    pub file: bool,
    /// An estimate of performance.
    pub perf: bool,
    /// Where the reader of the text lives.
    pub zone: Zone<'a>,
}

/// Prints a log as `darshan-parser --show-incomplete` does. What is missing from the log comes back.
///
/// # Errors
/// If the output can not be written.
pub fn parse(log: &Log, options: &Options<'_>, out: &mut dyn Write) -> io::Result<Vec<Damage>> {
    let mut page = Page::new(out);
    header::lines(log, options.zone, &mut page)?;
    if options.base {
        page.text(explain::COLUMNS)?;
    }
    let mut missing = Missing::of(log);
    let mut any = false;
    for region in log.header().regions() {
        any = true;
        let Some(module) = region.module else { continue };
        let derivable = Total::new(module).is_some();
        if base::is_printed(module) && (options.base || derivable) {
            explain::module(module, region.partial, options.base, &mut page)?;
            missing.read_module(module, one_module(log, module, options, &mut page)?);
        }
    }
    if options.base {
        any |= own::lines(log, &mut page)?;
    }
    if !any {
        page.text("\n# no module data available.\n")?;
    }
    page.finish()?;
    Ok(missing.all())
}

/// One pass over the records serves all that is asked.
fn one_module(
    log: &Log,
    module: Module,
    options: &Options<'_>,
    page: &mut Page<'_>,
) -> io::Result<Vec<Damage>> {
    let mut records = log.records(module);
    let mut total = options.total.then(|| Total::new(module)).flatten();
    let derives = (options.file || options.perf) && Total::new(module).is_some();
    let mut derived = derives.then(|| Derived::new(module)).flatten();
    let mut lines = base::Lines::new(module);
    while let Some(record) = records.next_record() {
        if let Record::Counters(counters) = &record {
            if let Some(total) = &mut total {
                total.add(counters);
            }
            if let Some(derived) = &mut derived {
                derived.add(counters);
            }
        }
        if options.base {
            lines.push(&record, log.names(), page)?;
        }
    }
    if let Some(total) = total {
        derived::total(module, &total, page)?;
    }
    if let Some(derived) = derived {
        if options.file {
            derived::files(&derived.files(), page)?;
        }
        if options.perf {
            derived::performance(&derived.performance(), page)?;
        }
    }
    Ok(records.damage().to_vec())
}

/// Prints only the header lines: versions, job, regions, mounts.
///
/// # Errors
/// If the output can not be written.
pub fn header(log: &Log, zone: Zone<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out);
    header::lines(log, zone, &mut page)?;
    page.finish()
}
