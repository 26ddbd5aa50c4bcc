//! A log becomes another one: current version, other compression, fewer files, less said about
//! who and where.

mod anonymise;

pub use anonymise::{Anonymise, is_fixed};

use crate::Result;
use crate::damage::Damage;
use crate::missing::Missing;
use crate::read::Log;
use crate::record::header::Compression;
use crate::write::{Writer, copy_records};
use anonymise::Mask;
use netra_event::{Module, RecordId};
use std::fmt;
use std::io::{Seek, Write};

/// Whether a file stays: its id, and its name if the log knows it.
pub type Select<'a> = &'a dyn Fn(RecordId, Option<&[u8]>) -> bool;

/// How a log is converted.
#[derive(Default, Clone, Copy)]
pub struct Options<'a> {
    /// How the result is compressed.
    pub compression: Compression,
    /// What is hidden.
    pub anonymise: Anonymise,
    /// Which files stay; all of them if nothing is said. Heat maps do not tell files apart and are
    /// left out when some are.
    pub select: Option<Select<'a>>,
    /// Whether traces forget threads: the tools of Darshan 3.5.0 and before can not read traces that
    /// tell them.
    pub drop_threads: bool,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("compression", &self.compression)
            .field("anonymise", &self.anonymise)
            .field("select", &self.select.is_some())
            .field("drop_threads", &self.drop_threads)
            .finish()
    }
}

/// What converting did.
#[derive(Debug, Default)]
pub struct Converted {
    /// What is missing from the log that was converted.
    pub damage: Vec<Damage>,
    /// Records written.
    pub records: u64,
    /// Whether there was a netra section and it was left out: its blocks name files and hosts, so
    /// they do not go with a log that is anonymised or holds only some files.
    pub section_left_out: bool,
}

/// Converts a log.
///
/// # Errors
/// If the output can not be written. What is damaged is left out and reported, and its module is
/// marked as incomplete.
pub fn convert<W: Write + Seek>(
    log: &Log,
    options: &Options<'_>,
    out: W,
) -> Result<(W, Converted)> {
    let mask = Mask::new(log, options.anonymise);
    let names = log.names().iter().filter(|&(id, name)| {
        let fixed = anonymise::is_fixed(name);
        options.select.is_none_or(|select| fixed || select(id, Some(name)))
    });
    let names: Vec<_> = names.map(|(id, name)| (mask.id(id), mask.name(name))).collect();
    let job = mask.job(log.job());
    let names = names.iter().map(|(id, name)| (*id, name.as_ref()));
    let mut writer = Writer::new(out, options.compression, &job, names)?;
    let (mut done, mut missing) = (Converted::default(), Missing::of(log));
    for region in log.header().regions() {
        let Some(module) = region.module else { continue };
        if region.partial {
            writer.set_partial(module);
        }
        if options.select.is_some() && module == Module::Heatmap {
            continue;
        }
        writer.keep_threads(!options.drop_threads && log.has_threads(module))?;
        let damage = copy_records(log, module, &mut writer, |writer, record| {
            let id = record.id();
            let stays =
                |select: Select<'_>| !is_about_files(module) || select(id, log.names().get(id));
            if options.select.is_none_or(stays) {
                done.records += 1;
                mask.write(module, record, writer)?;
            }
            Ok(())
        })?;
        if !damage.is_empty() {
            writer.set_partial(module);
        }
        missing.read_module(module, damage);
    }
    section(log, options, &mut writer, &mut done)?;
    done.damage = missing.all();
    Ok((writer.finish()?, done))
}

fn section<W: Write + Seek>(
    log: &Log,
    options: &Options<'_>,
    writer: &mut Writer<W>,
    done: &mut Converted,
) -> Result<()> {
    let section = log.section();
    if options.select.is_some() || options.anonymise.is_any() {
        done.section_left_out = !section.blocks().is_empty();
        return Ok(());
    }
    for block in section.blocks() {
        // A damaged block is left out; what is missing is said of the log as a whole.
        writer.copy_block(block)?;
    }
    Ok(())
}

/// The other modules describe a process or a machine.
fn is_about_files(module: Module) -> bool {
    !matches!(
        module,
        Module::Null | Module::Bgq | Module::Mdhim | Module::Apxc | Module::Apmpi | Module::Heatmap
    )
}
