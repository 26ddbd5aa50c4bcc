//! Every segment of a trace, for machines. People get the lines of `netra_darshan`.

use std::io::{Result, Write};

use netra_darshan::read::{Direction, Dxt, Log, Record};
use netra_darshan::record::dxt::Segment;
use netra_darshan::{Damage, Missing};
use netra_event::Module;

use crate::{Json, csv, head};

const TRACES: [Module; 2] = [Module::DxtPosix, Module::DxtMpiio];

/// One JSON document: the job, and each trace with its segments. Gives what is missing.
///
/// # Errors
/// If the output can not be written.
pub fn json<W: Write>(out: &mut W, path: &str, log: &Log) -> Result<Vec<Damage>> {
    let mut missing = Missing::of(log);
    let mut json = Json::new(out);
    json.open('{')?;
    head::log(&mut json, path, log)?;
    json.line()?;
    json.key("modules")?;
    json.open('[')?;
    for region in log.header().regions() {
        let Some(module) = region.module.filter(|module| TRACES.contains(module)) else { continue };
        json.line()?;
        json.open('{')?;
        head::module(&mut json, &region)?;
        json.key("records")?;
        json.open('[')?;
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            if let Record::Dxt(record) = record {
                json.line()?;
                record_json(&mut json, log, record)?;
            }
        }
        missing.read(&records);
        json.close(']')?;
        json.close('}')?;
    }
    json.close(']')?;
    json.line()?;
    let missing = missing.all();
    head::missing(&mut json, &missing)?;
    json.close('}')?;
    json.finish()?;
    Ok(missing)
}

/// Writes come before reads in a log, so both arrays are written as they come.
fn record_json<W: Write>(json: &mut Json<'_, W>, log: &Log, mut record: Dxt<'_>) -> Result<()> {
    let head = record.head;
    json.open('{')?;
    json.key("id")?;
    json.text(itoa::Buffer::new().format(head.id.0))?;
    json.key("rank")?;
    json.int(head.rank.0)?;
    json.key("file")?;
    match log.names().get(head.id) {
        Some(name) => json.bytes(name)?,
        None => json.null()?,
    }
    json.key("host")?;
    json.bytes(&head.host)?;
    json.key("writes")?;
    json.open('[')?;
    let mut reading = false;
    while let Some((direction, segments)) = record.segments.next_piece() {
        if direction == Direction::Read && !reading {
            reading = true;
            json.close(']')?;
            json.key("reads")?;
            json.open('[')?;
        }
        for segment in segments {
            segment_json(json, segment)?;
        }
    }
    json.close(']')?;
    if !reading {
        json.key("reads")?;
        json.open('[')?;
        json.close(']')?;
    }
    json.close('}')
}

fn segment_json<W: Write>(json: &mut Json<'_, W>, segment: &Segment) -> Result<()> {
    json.open('{')?;
    json.key("offset")?;
    json.int(segment.offset)?;
    json.key("length")?;
    json.int(segment.length)?;
    json.key("start_seconds")?;
    json.float(segment.start)?;
    json.key("end_seconds")?;
    json.float(segment.end)?;
    if let Some(thread) = segment.thread {
        json.key("thread")?;
        json.unsigned(thread)?;
    }
    json.close('}')
}

/// The header line of [`csv`]. Times are seconds since the job's start, as the log has them.
///
/// # Errors
/// If the output can not be written.
pub fn csv_header(out: &mut impl Write) -> Result<()> {
    out.write_all(
        b"log,module,rank,record_id,host,direction,segment,offset_bytes,length_bytes,\
          start_seconds,end_seconds,thread,file\n",
    )
}

/// A row for each segment. Gives what is missing.
///
/// # Errors
/// If the output can not be written.
pub fn csv<W: Write>(out: &mut W, path: &str, log: &Log) -> Result<Vec<Damage>> {
    let mut missing = Missing::of(log);
    for module in TRACES {
        let mut records = log.records(module);
        while let Some(record) = records.next_record() {
            if let Record::Dxt(record) = record {
                record_csv(out, path, module, log, record)?;
            }
        }
        missing.read(&records);
    }
    Ok(missing.all())
}

fn record_csv<W: Write>(
    out: &mut W,
    path: &str,
    module: Module,
    log: &Log,
    mut record: Dxt<'_>,
) -> Result<()> {
    let head = record.head;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    csv::field(&mut before, path)?;
    write!(before, ",{module},{},{},", head.rank, head.id)?;
    csv::field(&mut before, &String::from_utf8_lossy(&head.host))?;
    csv::field(&mut after, &String::from_utf8_lossy(log.names().get(head.id).unwrap_or_default()))?;
    after.push(b'\n');
    let (mut number, mut last) = (0_u64, Direction::Write);
    while let Some((direction, segments)) = record.segments.next_piece() {
        if direction != last {
            (number, last) = (0, direction);
        }
        let word = if direction == Direction::Write { "write" } else { "read" };
        for segment in segments {
            out.write_all(&before)?;
            let Segment { offset, length, start, end, thread } = *segment;
            write!(out, ",{word},{number},{offset},{length},{start:?},{end:?},")?;
            if let Some(thread) = thread {
                write!(out, "{thread}")?;
            }
            out.write_all(b",")?;
            out.write_all(&after)?;
            number += 1;
        }
    }
    Ok(())
}
