//! Modules that only the netra section knows, in the same lines as all others.

use super::explain;
use super::number::{signed, unsigned};
use super::page::Page;
use crate::read::Log;
use crate::section::OwnValue;
use std::io;

/// A line for each counter; whether there was any.
pub(super) fn lines(log: &Log, page: &mut Page<'_>) -> io::Result<bool> {
    let records = log.section().own_records();
    let mut last = None;
    for record in &records {
        if last != Some(&record.module) {
            explain::own(&record.module, page)?;
            last = Some(&record.module);
        }
        for (name, value) in &record.counters {
            let value = match *value {
                OwnValue::Count(count) => unsigned(count).as_bytes().to_vec(),
                OwnValue::Seconds(seconds) => format!("{seconds:.6}").into_bytes(),
            };
            page.join(&[
                record.module.as_bytes(),
                b"\t",
                signed(record.rank.0).as_bytes(),
                b"\t",
                unsigned(record.id.0).as_bytes(),
                b"\t",
                name.as_bytes(),
                b"\t",
                &value,
                b"\t",
                &record.name,
                b"\tUNKNOWN\tUNKNOWN\n",
            ])?;
        }
    }
    Ok(last.is_some())
}
