//! The named values of a record of any module, under the names that the text lines have.

use std::fmt::Write as _;
use std::io::Result;

use netra_darshan::counter::{self, apmpi, apxc, lustre, posix};
use netra_darshan::read::{Counters, Extra, Lustre, Record};
use netra_event::Module;

/// A value as machines get it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A whole number.
    Int(i64),
    /// A whole number without sign: an id, a count.
    Unsigned(u64),
    /// A time, a variance.
    Float(f64),
    /// A name, in any encoding.
    Text(&'a [u8]),
}

/// Whoever takes the values of a record, one after another.
pub trait Take {
    /// Takes one.
    ///
    /// # Errors
    /// If it can not be written; nothing more is handed over then.
    fn take(&mut self, name: &str, value: Value<'_>) -> Result<()>;
}

/// Hands every value of a record over, in the order of the text lines. Segments of a trace are not
/// values: they have a face of their own.
///
/// # Errors
/// The taker's.
pub fn each(module: Module, record: &Record<'_>, to: &mut impl Take) -> Result<()> {
    match record {
        Record::Counters(record) => counters(module, record, to),
        Record::Lustre(record) => striping(record, to),
        Record::Heatmap(record) => {
            to.take("HEATMAP_F_BIN_WIDTH_SECONDS", Value::Float(record.width.0))?;
            numbered("HEATMAP_READ_BIN_", record.reads, to)?;
            numbered("HEATMAP_WRITE_BIN_", record.writes, to)
        }
        Record::Mdhim(record) => {
            let table = &counter::mdhim::TABLE;
            ints(table.int, record.ints, to)?;
            floats(table.float, record.floats, to)?;
            numbered("MDHIM_SERVER_", record.servers, to)
        }
        Record::ApmpiHead(record) => {
            to.take("MPI_TOTAL_COMM_TIME_VARIANCE", Value::Float(record.variance_total))?;
            if record.sync {
                let variance = Value::Float(record.variance_sync);
                to.take("MPI_TOTAL_COMM_SYNC_TIME_VARIANCE", variance)?;
            }
            Ok(())
        }
        Record::Apmpi(record) => {
            let node = record.node.split(|&byte| byte == 0).next().unwrap_or_default();
            to.take("MPI_PROCESSOR_NAME", Value::Text(node))?;
            for (name, value) in apmpi::INT.iter().zip(record.ints) {
                to.take(name, Value::Unsigned(value.cast_unsigned()))?;
            }
            floats(&apmpi::FLOAT, record.floats, to)?;
            floats(&apmpi::SYNC, record.sync, to)?;
            floats(&apmpi::GLOBAL, record.global, to)
        }
        Record::ApxcHead(record) => {
            const NAMES: [&str; 6] = [
                "APXC_BLADES",
                "APXC_CHASSIS",
                "APXC_GROUPS",
                "APXC_MEMORY_MODE",
                "APXC_CLUSTER_MODE",
                "APXC_APPLICATION",
            ];
            ints(&NAMES, &record.numbers, to)
        }
        Record::Apxc(record) => {
            ints(&["APXC_GROUP", "APXC_CHASSIS", "APXC_BLADE", "APXC_NODE"], &record.place, to)?;
            let mut name = String::new();
            for (place, value) in record.ints.iter().enumerate() {
                named(&mut name, format_args!("{}", apxc::Name(place)));
                to.take(&name, Value::Unsigned(value.cast_unsigned()))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn counters(module: Module, record: &Counters<'_>, to: &mut impl Take) -> Result<()> {
    let Some(table) = counter::current(module) else { return Ok(()) };
    for (place, (name, &value)) in table.int.iter().zip(record.ints).enumerate() {
        // It holds the id of another record.
        let is_id = module == Module::Posix && place == posix::RENAMED_FROM;
        let value = if is_id { Value::Unsigned(value.cast_unsigned()) } else { Value::Int(value) };
        to.take(name, value)?;
    }
    floats(table.float, record.floats, to)?;
    if let Extra::File(file) = record.extra {
        let name = match module {
            Module::H5d => "H5D_FILE_REC_ID",
            _ => "PNETCDF_VAR_FILE_REC_ID",
        };
        to.take(name, Value::Unsigned(file.0))?;
    }
    Ok(())
}

fn striping(record: &Lustre<'_>, to: &mut impl Take) -> Result<()> {
    let count = |count: usize| Value::Unsigned(count as u64);
    to.take("LUSTRE_NUM_COMPONENTS", count(record.components.len()))?;
    to.take("LUSTRE_NUM_STRIPES", count(record.targets.len()))?;
    let mut name = String::new();
    for (number, (component, targets)) in (1..).zip(record.parts()) {
        for (suffix, &value) in lustre::SUFFIX.iter().zip(&component.numbers) {
            named(&mut name, format_args!("LUSTRE_COMP{number}{suffix}"));
            to.take(&name, Value::Int(value))?;
        }
        let pool = component.pool.split(|&byte| byte == 0).next().unwrap_or_default();
        named(&mut name, format_args!("LUSTRE_COMP{number}_POOL_NAME"));
        to.take(&name, Value::Text(pool))?;
        for (place, &target) in targets.iter().enumerate() {
            named(&mut name, format_args!("LUSTRE_COMP{number}_OST_ID_{place}"));
            to.take(&name, Value::Int(target))?;
        }
    }
    Ok(())
}

fn ints(names: &[&str], values: &[i64], to: &mut impl Take) -> Result<()> {
    names.iter().zip(values).try_for_each(|(name, &value)| to.take(name, Value::Int(value)))
}

fn floats(names: &[&str], values: &[f64], to: &mut impl Take) -> Result<()> {
    names.iter().zip(values).try_for_each(|(name, &value)| to.take(name, Value::Float(value)))
}

fn numbered(prefix: &str, values: &[i64], to: &mut impl Take) -> Result<()> {
    let mut name = String::new();
    for (place, &value) in values.iter().enumerate() {
        named(&mut name, format_args!("{prefix}{place}"));
        to.take(&name, Value::Int(value))?;
    }
    Ok(())
}

/// Makes a name in a buffer that is used again.
fn named(name: &mut String, text: std::fmt::Arguments<'_>) {
    name.clear();
    // Writing to a string fails only where a name's own code does; none of them can.
    if name.write_fmt(text).is_err() {
        name.clear();
    }
}
