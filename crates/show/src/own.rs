//! Modules that only the netra section of a log knows: they describe themselves, so whatever counts in
//! the application is shown without a word about it here.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use netra_analyse::Also;
use netra_darshan::read::Log;
use netra_darshan::section::{OwnRecord, OwnValue};
use netra_event::Seconds;

use crate::{Json, Only, csv, member};

/// The modules of a log with their records, for a list of modules.
pub(crate) fn json<W: Write>(json: &mut Json<'_, W>, log: &Log, only: &Only) -> Result<()> {
    let mut records = log.section().own_records();
    records.retain(|record| is_wanted(record, only));
    for records in records.chunk_by(|one, next| one.module == next.module) {
        json.line()?;
        json.open('{')?;
        member::text(json, "name", &records[0].module)?;
        member::truth(json, "own", true)?;
        member::list(json, "records", records, |json, one| record(json, one, only))?;
        json.close('}')?;
    }
    Ok(())
}

fn is_wanted(record: &OwnRecord, only: &Only) -> bool {
    only.has_module(&record.module) && only.has_record(record.rank.0, &record.name)
}

fn record<W: Write>(json: &mut Json<'_, W>, record: &OwnRecord, only: &Only) -> Result<()> {
    json.line()?;
    json.open('{')?;
    member::text(json, "id", &record.id.0.to_string())?;
    member::integer(json, "rank", record.rank.0)?;
    json.key("file")?;
    json.bytes(&record.name)?;
    json.key("counters")?;
    json.open('{')?;
    for (name, value) in record.counters.iter().filter(|one| only.has_counter(&one.0)) {
        match *value {
            OwnValue::Count(count) => member::number(json, name, count)?,
            OwnValue::Seconds(seconds) => member::float(json, name, seconds)?,
        }
    }
    json.close('}')?;
    json.close('}')
}

/// A row for each counter.
pub(crate) fn csv<W: Write>(out: &mut W, path: &str, log: &Log, only: &Only) -> Result<()> {
    let records = log.section().own_records().into_iter();
    let wanted = records.filter(|record| is_wanted(record, only));
    for OwnRecord { module, rank, id, name, counters } in wanted {
        for (counter, value) in counters.into_iter().filter(|one| only.has_counter(&one.0)) {
            csv::field(out, path)?;
            write!(out, ",{module},{rank},{id},{counter},")?;
            match value {
                OwnValue::Count(count) => write!(out, "{count},")?,
                OwnValue::Seconds(seconds) => write!(out, "{seconds:?},")?,
            }
            csv::field(out, &String::from_utf8_lossy(&name))?;
            out.write_all(b",,\n")?;
        }
    }
    Ok(())
}

/// The modules of a log, each with its records added up.
pub(crate) fn sums(log: &Log) -> Vec<Also> {
    let mut modules: BTreeMap<String, Also> = BTreeMap::new();
    for record in log.section().own_records() {
        let sum = modules.entry(record.module.clone()).or_default();
        sum.module = record.module;
        sum.records += 1;
        for (name, value) in record.counters {
            let value = match value {
                OwnValue::Count(count) => count as f64,
                OwnValue::Seconds(seconds) => seconds,
            };
            match sum.counters.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += value,
                None => sum.counters.push((name, value)),
            }
        }
    }
    modules.into_values().collect()
}

/// What such a module counted, in a line.
pub(crate) fn line(also: &Also) -> String {
    let counters = also.counters.iter().filter(|(_, value)| *value != 0.0).map(|(name, value)| {
        let name = name.strip_prefix(&also.module).unwrap_or(name).trim_start_matches('_');
        // By the format's custom, what is no count is a time.
        match name.strip_prefix("F_") {
            Some(name) => format!("{name} {}", Seconds(*value)),
            None => format!("{name} {value}"),
        }
    });
    counters.collect::<Vec<_>>().join(", ")
}
