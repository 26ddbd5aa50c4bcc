//! The counters of a module: a row a record, a column a counter, under Darshan's names.
//!
//! Modules whose records are of one shape have the columns of their table. Others (Lustre's layouts, the
//! router counters) have as many as their longest record; they are looked through first.

use std::collections::{HashMap, HashSet};
use std::io::Result;
use std::sync::Arc;

use netra_darshan::counter;
use netra_darshan::read::{Extra, Record};
use netra_event::Module;
use netra_show::field::{self, Take, Value};

use super::{Page, REST, Scan, Source, place_heads};
use crate::sheet::{Head, Kind};

/// What a record of this module names besides its counters.
fn parent(module: Module) -> Option<&'static str> {
    match module {
        Module::H5d => Some("H5D_FILE_REC_ID"),
        Module::PnetcdfVar => Some("PNETCDF_VAR_FILE_REC_ID"),
        _ => None,
    }
}

/// Whether all records of a module have the same counters.
fn is_regular(module: Module) -> bool {
    let irregular = matches!(
        module,
        Module::Lustre | Module::Mdhim | Module::Apmpi | Module::Apxc | Module::Heatmap
    );
    !irregular && counter::current(module).is_some()
}

/// A counter that holds the id of another record.
fn is_id(module: Module, place: usize) -> bool {
    module == Module::Posix && place == counter::posix::RENAMED_FROM
}

pub(super) fn heads(module: Module, sources: &[Arc<Source>], heads: &mut Vec<Head>) {
    place_heads(heads);
    match counter::current(module).filter(|_| is_regular(module)) {
        Some(table) => {
            heads.extend(table.int.iter().enumerate().map(|(place, name)| {
                let kind = if is_id(module, place) { Kind::Unsigned } else { Kind::Int };
                Head::new(name, kind)
            }));
            heads.extend(table.float.iter().map(|name| Head::new(name, Kind::Float)));
            heads.extend(parent(module).map(|name| Head::new(name, Kind::Unsigned)));
        }
        None => heads.extend(found(module, sources)),
    }
}

/// The values of irregular records, in the order in which they appear first.
fn found(module: Module, sources: &[Arc<Source>]) -> Vec<Head> {
    struct Finder {
        heads: Vec<Head>,
        known: HashSet<String>,
    }
    impl Take for Finder {
        fn take(&mut self, name: &str, value: Value<'_>) -> Result<()> {
            if !self.known.contains(name) {
                self.known.insert(name.to_owned());
                let kind = match value {
                    Value::Int(_) => Kind::Int,
                    Value::Unsigned(_) => Kind::Unsigned,
                    Value::Float(_) => Kind::Float,
                    Value::Text(_) => Kind::Label,
                };
                self.heads.push(Head::new(name, kind));
            }
            Ok(())
        }
    }
    let mut finder = Finder { heads: Vec::new(), known: HashSet::new() };
    for source in sources {
        let mut records = source.log.records(module);
        while let Some(record) = records.next_record() {
            // The finder does not fail.
            if field::each(module, &record, &mut finder).is_err() {
                break;
            }
        }
    }
    finder.heads
}

pub(super) fn scan(scan: &Scan, source: &Source, module: Module, page: &mut Page<'_>) -> bool {
    if is_regular(module) {
        regular(scan, source, module, page)
    } else {
        irregular(scan, source, module, page)
    }
}

fn regular(scan: &Scan, source: &Source, module: Module, page: &mut Page<'_>) -> bool {
    let first = page.first + REST;
    let mut records = source.log.records(module);
    while let Some(record) = records.next_record() {
        let Record::Counters(record) = record else { continue };
        if !scan.wants(record.rank) {
            continue;
        }
        page.place(&source.log, record.id, record.rank, 1);
        for (number, &value) in record.ints.iter().enumerate() {
            if is_id(module, number) {
                let id = value.cast_unsigned();
                page.sheet.unsigned(first + number, std::iter::once(id));
            } else {
                page.sheet.ints(first + number, std::iter::once(value));
            }
        }
        let first = first + record.ints.len();
        for (number, &value) in record.floats.iter().enumerate() {
            page.sheet.floats(first + number, std::iter::once(value));
        }
        if let Extra::File(file) = record.extra {
            let number = first + record.floats.len();
            page.sheet.unsigned(number, std::iter::once(file.0));
        }
        if !page.end(1) {
            return false;
        }
        page.reach(records.place());
    }
    true
}

/// Puts values into the columns of their names.
struct Placing<'a, 'p> {
    page: &'a mut Page<'p>,
    numbers: &'a HashMap<&'a str, usize>,
}

impl Take for Placing<'_, '_> {
    fn take(&mut self, name: &str, value: Value<'_>) -> Result<()> {
        let Some(&number) = self.numbers.get(name) else { return Ok(()) };
        let sheet = &mut self.page.sheet;
        match value {
            Value::Int(value) => sheet.ints(number, std::iter::once(value)),
            Value::Unsigned(value) => sheet.unsigned(number, std::iter::once(value)),
            Value::Float(value) => sheet.floats(number, std::iter::once(value)),
            Value::Text(text) => sheet.label(number, Some(text), 1),
        }
        Ok(())
    }
}

fn irregular(scan: &Scan, source: &Source, module: Module, page: &mut Page<'_>) -> bool {
    let numbers = scan.shape.numbers();
    let mut records = source.log.records(module);
    while let Some(record) = records.next_record() {
        if !scan.wants(record.rank()) {
            continue;
        }
        page.place(&source.log, record.id(), record.rank(), 1);
        let mut placing = Placing { page: &mut *page, numbers: &numbers };
        if field::each(module, &record, &mut placing).is_err() || !page.end(1) {
            return false;
        }
    }
    true
}
