//! Takes the records of a module over into another log.

use super::Writer;
use crate::Result;
use crate::damage::Damage;
use crate::read::{Dxt, DxtHead, Log, Record};
use netra_event::Module;
use std::io::Write;

/// Hands every record to `act`, and gives back what could not be read. A trace that is cut off is
/// handed on with the segments it has.
pub(crate) fn copy_records<W: Write>(
    log: &Log,
    module: Module,
    writer: &mut Writer<W>,
    mut act: impl FnMut(&mut Writer<W>, Record<'_>) -> Result<()>,
) -> Result<Vec<Damage>> {
    let cut = cut_trace(log, module);
    let mut records = log.records(module);
    let mut index = 0;
    while let Some(record) = records.next_record() {
        match (record, &cut) {
            (Record::Dxt(dxt), Some(cut)) if index == cut.index => {
                let head = DxtHead { writes: cut.writes, reads: cut.reads, ..dxt.head.clone() };
                if cut.writes + cut.reads > 0 {
                    let segments = dxt.segments;
                    act(writer, Record::Dxt(Dxt { head: &head, segments }))?;
                }
            }
            (record, _) => act(writer, record)?,
        }
        index += 1;
    }
    Ok(records.damage().to_vec())
}

/// The last trace of a damaged module, and the segments that are left of it.
struct Cut {
    index: usize,
    writes: u64,
    reads: u64,
}

/// A head says how many segments follow, and it is written before them: so whether they are all
/// there has to be known beforehand.
fn cut_trace(log: &Log, module: Module) -> Option<Cut> {
    if !matches!(module, Module::DxtPosix | Module::DxtMpiio) {
        return None;
    }
    let mut records = log.records(module);
    let mut index = 0;
    loop {
        let Some(Record::Dxt(mut dxt)) = records.next_record() else { return None };
        let expected = (dxt.head.writes, dxt.head.reads);
        let (mut writes, mut reads) = (0, 0);
        while let Some((direction, piece)) = dxt.segments.next_piece() {
            match direction {
                crate::read::Direction::Write => writes += piece.len() as u64,
                crate::read::Direction::Read => reads += piece.len() as u64,
            }
        }
        if (writes, reads) != expected {
            return Some(Cut { index, writes, reads });
        }
        index += 1;
    }
}
