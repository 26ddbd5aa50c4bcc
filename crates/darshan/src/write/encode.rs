//! Turns a job and records into bytes.

use crate::read::{
    Apmpi, ApmpiHead, Apxc, ApxcHead, Counters, Extra, Heatmap, Job, Lustre, Mdhim, Record,
};
use crate::record::job::{METADATA, REGION};
use crate::record::{self, apmpi, apxc, heatmap, lustre};
use crate::{Error, Result, counter};
use netra_event::Module;

/// The longest command line that leaves room for mounts, as Darshan has it.
const EXE: usize = 3015;
/// Stands at the end of a command line that was cut.
const CUT: &[u8] = b"<TRUNCATED>";

/// The job's region before compression. What does not fit is cut: readers take 4096 bytes.
pub(super) fn job(job: &Job) -> Vec<u8> {
    let mut bytes = job.numbers.encode().to_vec();
    let metadata = &job.metadata[..job.metadata.len().min(METADATA - 1)];
    bytes.extend_from_slice(metadata);
    bytes.resize(record::job::SIZE, 0);
    if job.exe.len() > EXE {
        bytes.extend_from_slice(&job.exe[..EXE - CUT.len()]);
        bytes.extend_from_slice(CUT);
    } else {
        bytes.extend_from_slice(&job.exe);
    }
    for mount in &job.mounts {
        if bytes.len() + mount.kind.len() + mount.point.len() + 3 > REGION {
            break;
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&mount.kind);
        bytes.push(b'\t');
        bytes.extend_from_slice(&mount.point);
    }
    // Without mounts there is no newline, and Darshan's tools then show no command line; a newline
    // alone they take for a broken mount table, and refuse the log.
    bytes.push(0);
    bytes
}

/// A record's bytes before compression.
pub(super) fn record(module: Module, record: &Record<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.extend_from_slice(&record::base(record.id(), record.rank()));
    match (module, record) {
        (_, Record::Counters(counters)) => return self::counters(module, counters, bytes),
        (Module::Lustre, Record::Lustre(record)) => self::lustre(record, bytes),
        (Module::Heatmap, Record::Heatmap(record)) => self::heatmap(record, bytes),
        (Module::Mdhim, Record::Mdhim(record)) => mdhim(record, bytes),
        (Module::Apmpi, Record::ApmpiHead(record)) => apmpi_head(record, bytes),
        (Module::Apmpi, Record::Apmpi(record)) => self::apmpi(record, bytes),
        (Module::Apxc, Record::ApxcHead(record)) => apxc_head(record, bytes),
        (Module::Apxc, Record::Apxc(record)) => self::apxc(record, bytes),
        _ => return Err(Error::Shape { module: module.name(), expected: 0 }),
    }
    Ok(())
}

fn counters(module: Module, record: &Counters<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    let layout = record::layout(module, counter::version(module));
    let fits = |layout: &record::Layout| {
        layout.ints == record.ints.len() && layout.floats == record.floats.len()
    };
    let Some(layout) = layout.filter(fits) else {
        let expected = layout.map_or(0, |layout| layout.ints + layout.floats);
        return Err(Error::Shape { module: module.name(), expected });
    };
    if layout.head > 0 {
        let file = if let Extra::File(file) = record.extra { file.0 } else { 0 };
        bytes.extend_from_slice(&file.to_le_bytes());
    }
    ints(record.ints, bytes);
    floats(record.floats, bytes);
    match record.extra {
        Extra::Dfs { pool, container } => {
            bytes.extend_from_slice(&pool);
            bytes.extend_from_slice(&container);
        }
        Extra::Daos { pool, container, object } => {
            bytes.extend_from_slice(&pool);
            bytes.extend_from_slice(&container);
            bytes.extend_from_slice(&object.0.to_le_bytes());
            bytes.extend_from_slice(&object.1.to_le_bytes());
        }
        Extra::None | Extra::File(_) => {}
    }
    // A record made without what its module has besides is filled up, never short.
    bytes.resize(layout.size(), 0);
    Ok(())
}

fn lustre(record: &Lustre<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    let (components, targets) = (record.components.len() as u64, record.targets.len() as u64);
    bytes.extend_from_slice(&lustre::head(record.id, record.rank, components, targets));
    for component in record.components {
        bytes.extend_from_slice(&component.encode());
    }
    ints(record.targets, bytes);
}

fn heatmap(record: &Heatmap<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    let bins = record.writes.len().min(record.reads.len());
    let head = heatmap::head(record.id, record.rank, record.width.0, bins as u64);
    bytes.extend_from_slice(&head);
    ints(&record.writes[..bins], bytes);
    ints(&record.reads[..bins], bytes);
}

fn mdhim(record: &Mdhim<'_>, bytes: &mut Vec<u8>) {
    ints(record.ints, bytes);
    floats(record.floats, bytes);
    ints(record.servers, bytes);
    // There is always room for one server.
    if record.servers.is_empty() {
        ints(&[0], bytes);
    }
}

fn apmpi_head(record: &ApmpiHead, bytes: &mut Vec<u8>) {
    ints(&[apmpi::MAGIC, i64::from(record.sync)], bytes);
    floats(&[record.variance_total, record.variance_sync], bytes);
}

fn apmpi(record: &Apmpi<'_>, bytes: &mut Vec<u8>) {
    ints(record.ints, bytes);
    floats(record.floats, bytes);
    floats(record.sync, bytes);
    floats(record.global, bytes);
    bytes.extend_from_slice(&record.node[..record.node.len().min(apmpi::NODE - 1)]);
    bytes.resize(apmpi::RECORD, 0);
}

fn apxc_head(record: &ApxcHead, bytes: &mut Vec<u8>) {
    ints(&[apxc::MAGIC], bytes);
    ints(&record.numbers, bytes);
}

fn apxc(record: &Apxc<'_>, bytes: &mut Vec<u8>) {
    ints(&record.place, bytes);
    ints(record.ints, bytes);
    bytes.resize(apxc::RECORD, 0);
}

fn ints(numbers: &[i64], bytes: &mut Vec<u8>) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn floats(numbers: &[f64], bytes: &mut Vec<u8>) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
