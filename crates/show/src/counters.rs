//! Every counter of a log, for machines. People get the lines of `netra_darshan`.

use std::io::{Result, Write};

use netra_darshan::read::{Log, Names, Record};
use netra_darshan::{Damage, Missing};
use netra_event::Module;

use crate::derived::Sums;
use crate::field::{self, Take, Value};
use crate::only::Chosen;
use crate::{Json, Only, csv, head, own};

/// Which numbers are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Every counter of every record.
    pub base: bool,
    /// The counters of all records of a module together.
    pub total: bool,
    /// Categories of files.
    pub file: bool,
    /// Time of the slowest process, and the rate that follows from it.
    pub perf: bool,
}

/// One JSON document: the job, and each module with its records. Gives what is missing.
///
/// # Errors
/// If the output can not be written.
pub fn json<W: Write>(
    out: &mut W,
    path: &str,
    log: &Log,
    choice: Choice,
    only: &Only,
) -> Result<Vec<Damage>> {
    let mut missing = Missing::of(log);
    let mut json = Json::new(out);
    json.open('{')?;
    head::log(&mut json, path, log)?;
    json.line()?;
    json.key("modules")?;
    json.open('[')?;
    for region in log.header().regions() {
        if region.module.is_some_and(|module| !only.has_module(module.name())) {
            continue;
        }
        json.line()?;
        json.open('{')?;
        head::module(&mut json, &region)?;
        if let Some(module) = region.module.filter(|module| !is_trace(*module)) {
            missing.read_module(module, records(&mut json, log, module, choice, only)?);
        }
        json.close('}')?;
    }
    if choice.base {
        own::json(&mut json, log, only)?;
    }
    json.close(']')?;
    json.line()?;
    let missing = missing.all();
    head::missing(&mut json, &missing)?;
    json.close('}')?;
    json.finish()?;
    Ok(missing)
}

fn is_wanted(record: &Record<'_>, names: &Names, only: &Only) -> bool {
    only.has_record(record.rank().0, names.get(record.id()).unwrap_or_default())
}

/// Traces have segments instead of counters, and a command of their own.
fn is_trace(module: Module) -> bool {
    matches!(module, Module::DxtPosix | Module::DxtMpiio)
}

fn records<W: Write>(
    json: &mut Json<'_, W>,
    log: &Log,
    module: Module,
    choice: Choice,
    only: &Only,
) -> Result<Vec<Damage>> {
    let mut sums = Sums::new(module, choice);
    if choice.base {
        json.key("records")?;
        json.open('[')?;
    }
    let mut records = log.records(module);
    while let Some(record) = records.next_record() {
        if let Record::Counters(record) = &record {
            sums.add(record);
        }
        if choice.base && is_wanted(&record, log.names(), only) {
            record_json(json, log, module, &record, only)?;
        }
    }
    if choice.base {
        json.close(']')?;
    }
    sums.json(json)?;
    Ok(records.damage().to_vec())
}

fn record_json<W: Write>(
    json: &mut Json<'_, W>,
    log: &Log,
    module: Module,
    record: &Record<'_>,
    only: &Only,
) -> Result<()> {
    json.line()?;
    json.open('{')?;
    json.key("id")?;
    json.text(itoa::Buffer::new().format(record.id().0))?;
    json.key("rank")?;
    json.int(record.rank().0)?;
    let place = log.names().place(record.id());
    json.key("file")?;
    match place.name {
        Some(name) => json.bytes(name)?,
        None => json.null()?,
    }
    json.key("mount")?;
    json.bytes(place.mount)?;
    json.key("fs")?;
    json.bytes(place.kind)?;
    json.key("counters")?;
    json.open('{')?;
    field::each(module, record, &mut Chosen { only, to: json })?;
    json.close('}')?;
    json.close('}')
}

impl<W: Write> Take for Json<'_, W> {
    fn take(&mut self, name: &str, value: Value<'_>) -> Result<()> {
        self.key(name)?;
        match value {
            Value::Int(value) => self.int(value),
            Value::Unsigned(value) => self.unsigned(value),
            Value::Float(value) => self.float(value),
            Value::Text(text) => self.bytes(text),
        }
    }
}

/// The header line of [`csv`].
///
/// # Errors
/// If the output can not be written.
pub fn csv_header(out: &mut impl Write) -> Result<()> {
    out.write_all(b"log,module,rank,record_id,counter,value,file,mount,fs\n")
}

/// A row for each counter; what belongs to a module as a whole has no record. Gives what is
/// missing.
///
/// # Errors
/// If the output can not be written.
pub fn csv<W: Write>(
    out: &mut W,
    path: &str,
    log: &Log,
    choice: Choice,
    only: &Only,
) -> Result<Vec<Damage>> {
    let mut missing = Missing::of(log);
    let wanted = |module: &Module| !is_trace(*module) && only.has_module(module.name());
    for module in log.modules().filter(wanted) {
        let mut records = log.records(module);
        let mut rows = Rows::new(out, path);
        let mut sums = Sums::new(module, choice);
        while let Some(record) = records.next_record() {
            if let Record::Counters(record) = &record {
                sums.add(record);
            }
            if choice.base && is_wanted(&record, log.names(), only) {
                rows.begin(module, &record, log.names())?;
                field::each(module, &record, &mut Chosen { only, to: &mut rows })?;
            }
        }
        rows.begin_module(module)?;
        sums.each(&mut rows)?;
        missing.read(&records);
    }
    if choice.base {
        own::csv(out, path, log, only)?;
    }
    Ok(missing.all())
}

/// The rows of one record share what stands before the counter and after its value.
struct Rows<'a, W> {
    out: &'a mut W,
    path: &'a str,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl<'a, W: Write> Rows<'a, W> {
    fn new(out: &'a mut W, path: &'a str) -> Rows<'a, W> {
        Rows { out, path, before: Vec::new(), after: Vec::new() }
    }

    /// For what belongs to no record.
    fn begin_module(&mut self, module: Module) -> Result<()> {
        self.before.clear();
        csv::field(&mut self.before, self.path)?;
        write!(self.before, ",{module},,,")?;
        self.after.clear();
        self.after.extend_from_slice(b",,,\n");
        Ok(())
    }

    fn begin(&mut self, module: Module, record: &Record<'_>, names: &Names) -> Result<()> {
        self.before.clear();
        csv::field(&mut self.before, self.path)?;
        write!(self.before, ",{module},{},{},", record.rank(), record.id())?;
        let place = names.place(record.id());
        self.after.clear();
        for part in [place.name.unwrap_or_default(), place.mount, place.kind] {
            self.after.push(b',');
            csv::field(&mut self.after, &String::from_utf8_lossy(part))?;
        }
        self.after.push(b'\n');
        Ok(())
    }
}

impl<W: Write> Take for Rows<'_, W> {
    fn take(&mut self, name: &str, value: Value<'_>) -> Result<()> {
        self.out.write_all(&self.before)?;
        self.out.write_all(name.as_bytes())?;
        self.out.write_all(b",")?;
        match value {
            Value::Int(value) => {
                self.out.write_all(itoa::Buffer::new().format(value).as_bytes())?;
            }
            Value::Unsigned(value) => {
                self.out.write_all(itoa::Buffer::new().format(value).as_bytes())?;
            }
            Value::Float(value) => write!(self.out, "{value:?}")?,
            Value::Text(text) => csv::field(self.out, &String::from_utf8_lossy(text))?,
        }
        self.out.write_all(&self.after)
    }
}
