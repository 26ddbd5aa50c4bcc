//! Numbers that follow from all records of a module: totals, categories of files, performance.

use std::io::{Result, Write};

use netra_darshan::counter;
use netra_darshan::read::Counters;
use netra_darshan::reduce::{Category, Derived, Files, Performance, Total};
use netra_event::Module;

use crate::Json;
use crate::counters::Choice;
use crate::field::{Take, Value};

/// What is added up while the records of one module pass.
pub(crate) struct Sums {
    module: Module,
    total: Option<Total>,
    derived: Option<Derived>,
    choice: Choice,
}

impl Sums {
    /// Nothing is added up for a module that has no totals, or that nobody asked for.
    pub(crate) fn new(module: Module, choice: Choice) -> Sums {
        let total = if choice.total { Total::new(module) } else { None };
        let derived = if choice.file || choice.perf { Derived::new(module) } else { None };
        Sums { module, total, derived, choice }
    }

    pub(crate) fn add(&mut self, record: &Counters<'_>) {
        if let Some(total) = &mut self.total {
            total.add(record);
        }
        if let Some(derived) = &mut self.derived {
            derived.add(record);
        }
    }

    /// The members `total`, `files` and `performance` of a module.
    pub(crate) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        if let Some(total) = &self.total {
            json.key("total")?;
            json.open('{')?;
            totals(self.module, total, "", json)?;
            json.close('}')?;
        }
        let Some(derived) = &self.derived else { return Ok(()) };
        if self.choice.file {
            json.key("files")?;
            json.open('{')?;
            for (name, category) in categories(&derived.files()) {
                json.key(name)?;
                json.open('{')?;
                for (key, value) in figures(&category) {
                    json.take(key, Value::Int(value))?;
                }
                json.close('}')?;
            }
            json.close('}')?;
        }
        if self.choice.perf {
            json.key("performance")?;
            json.open('{')?;
            for (key, value) in performance(&derived.performance()) {
                json.take(key, value)?;
            }
            json.close('}')?;
        }
        Ok(())
    }

    /// The same as named values, one after another.
    pub(crate) fn each(&self, to: &mut impl Take) -> Result<()> {
        if let Some(total) = &self.total {
            totals(self.module, total, "total_", to)?;
        }
        let Some(derived) = &self.derived else { return Ok(()) };
        if self.choice.file {
            for (name, category) in categories(&derived.files()) {
                for (key, value) in figures(&category) {
                    to.take(&format!("files_{name}_{key}"), Value::Int(value))?;
                }
            }
        }
        if self.choice.perf {
            for (key, value) in performance(&derived.performance()) {
                to.take(&format!("performance_{key}"), value)?;
            }
        }
        Ok(())
    }
}

fn totals(module: Module, total: &Total, prefix: &str, to: &mut impl Take) -> Result<()> {
    let Some(table) = counter::current(module) else { return Ok(()) };
    for (name, &value) in table.int.iter().zip(total.ints()) {
        to.take(&format!("{prefix}{name}"), Value::Int(value))?;
    }
    for (name, &value) in table.float.iter().zip(total.floats()) {
        to.take(&format!("{prefix}{name}"), Value::Float(value))?;
    }
    Ok(())
}

fn categories(files: &Files) -> [(&'static str, Category); 6] {
    [
        ("total", files.total),
        ("read_only", files.read_only),
        ("write_only", files.write_only),
        ("read_write", files.read_write),
        ("unique", files.unique),
        ("shared", files.shared),
    ]
}

fn figures(category: &Category) -> [(&'static str, i64); 3] {
    [("files", category.files), ("bytes", category.bytes), ("offset_max", category.max_offset)]
}

fn performance(perf: &Performance) -> [(&'static str, Value<'static>); 8] {
    [
        ("bytes", Value::Int(perf.bytes)),
        ("unique_slowest_rank", Value::Int(perf.slowest_rank)),
        ("unique_io_seconds", Value::Float(perf.io_time)),
        ("unique_meta_seconds", Value::Float(perf.meta_time)),
        ("unique_rw_seconds", Value::Float(perf.rw_time)),
        ("shared_io_seconds", Value::Float(perf.shared_time)),
        ("io_seconds", Value::Float(perf.agg_time())),
        ("mib_per_second", Value::Float(perf.agg_perf())),
    ]
}
