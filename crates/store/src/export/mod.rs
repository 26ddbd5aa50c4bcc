//! A stored job goes out again: as a log that Darshan's own tools read, or call by call to a rendering.
//!
//! A log has the job, its names, every record with the counters that were imported, heat maps, and reads
//! and writes as an extended trace. What only netra's own section of a log holds stays in the store.

mod render;
mod trace;

use std::io::{Seek, Write};

use netra_darshan::counter;
use netra_darshan::read::{Apmpi, Apxc, Counters, Heatmap, Job, Lustre, Mdhim, Record};
use netra_darshan::record::header::Compression;
use netra_darshan::record::job;
use netra_darshan::record::lustre::{Component, POOL};
use netra_darshan::write::Writer;
use netra_event::{Module, Seconds};

use crate::recall::{self, Before, Head, Kept, Recall};
use crate::{Error, Result};

pub use render::{Shown, calls};

/// What went out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Records, each trace of a file and rank among them.
    pub records: u64,
}

/// Writes a log of a stored job.
///
/// # Errors
/// The store can not be read, or the log can not be written.
pub async fn log<W: Write + Seek>(recall: &Recall, out: W) -> Result<(W, Exported)> {
    let head = recall.head().await?;
    let job = described(recall, &head).await?;
    let names = recall.names().await?;
    let names = names.iter().map(|(id, name)| (*id, name.as_bytes()));
    let mut writer =
        Writer::new(out, Compression::Zlib, &job, names).map_err(Error::of_log(recall.key()))?;
    for &module in Module::ALL {
        match module {
            Module::Lustre => layouts(recall, &mut writer).await?,
            Module::Heatmap => heats(recall, &mut writer).await?,
            Module::DxtPosix | Module::DxtMpiio => {
                trace::write(recall, &head, module, &mut writer).await?;
            }
            module => records(recall, module, &mut writer).await?,
        }
    }
    for module in head.partial {
        writer.set_partial(module);
    }
    let records = writer.records();
    let out = writer.finish().map_err(Error::of_log(recall.key()))?;
    Ok((out, Exported { records }))
}

async fn described(recall: &Recall, head: &Head) -> Result<Job> {
    const SECOND: i64 = 1_000_000_000;
    let end = head.end.unwrap_or(head.start);
    Ok(Job {
        numbers: job::Job {
            uid: head.uid,
            start_sec: head.start.div_euclid(SECOND),
            start_nsec: head.start.rem_euclid(SECOND),
            end_sec: end.div_euclid(SECOND),
            end_nsec: end.rem_euclid(SECOND),
            nprocs: head.nprocs.max(1),
            jobid: head.job_id,
        },
        metadata: head.metadata.clone().into_bytes(),
        exe: head.command.clone().into_bytes(),
        mounts: recall.mounts().await?,
    })
}

async fn records<W: Write + Seek>(
    recall: &Recall,
    module: Module,
    writer: &mut Writer<W>,
) -> Result<()> {
    let mut failed = None;
    let mut first = true;
    recall
        .records(module, &mut |kept| {
            if failed.is_none() {
                failed = record(module, &kept, std::mem::take(&mut first), writer).err();
            }
        })
        .await?;
    failed.map_or(Ok(()), |error| Err(Error::of_log(recall.key())(error)))
}

/// Writes a record, behind what precedes the first of its module.
fn record<W: Write + Seek>(
    module: Module,
    kept: &Kept,
    first: bool,
    writer: &mut Writer<W>,
) -> netra_darshan::Result<()> {
    let Kept { id, rank, ints, floats, extra, .. } = kept;
    let (id, rank) = (*id, *rank);
    match (first, kept.before) {
        (true, Before::Apmpi(head)) => writer.record(module, Record::ApmpiHead(head))?,
        (true, Before::Apxc(head)) => writer.record(module, Record::ApxcHead(head))?,
        _ => {}
    }
    let record = match module {
        Module::Mdhim => Record::Mdhim(Mdhim { id, rank, ints, floats, servers: &kept.servers }),
        Module::Apmpi => {
            let (own, more) = floats.split_at(counter::apmpi::FLOAT.len().min(floats.len()));
            let (sync, global) = more.split_at(counter::apmpi::SYNC.len().min(more.len()));
            let node = kept.node.as_bytes();
            Record::Apmpi(Apmpi { id, rank, ints, floats: own, sync, global, node })
        }
        Module::Apxc => {
            let (place, ints) = ints.split_at(4.min(ints.len()));
            let place = place.try_into().unwrap_or_default();
            Record::Apxc(Apxc { id, rank, place, ints })
        }
        _ => Record::Counters(Counters { id, rank, ints, floats, extra: *extra }),
    };
    writer.record(module, record)
}

async fn layouts<W: Write + Seek>(recall: &Recall, writer: &mut Writer<W>) -> Result<()> {
    let all = recall.layouts().await?;
    for parts in all.chunk_by(|a, b| (a.id, a.rank) == (b.id, b.rank)) {
        let component = |part: &recall::Component| {
            let mut pool = [0; POOL];
            for (to, from) in pool.iter_mut().zip(part.pool.bytes()) {
                *to = from;
            }
            Component { numbers: part.numbers, pool }
        };
        let components: Vec<Component> = parts.iter().map(component).collect();
        let targets: Vec<i64> = parts.iter().flat_map(|part| part.targets.clone()).collect();
        let Some(&recall::Component { id, rank, .. }) = parts.first() else { continue };
        let record = Lustre { id, rank, components: &components, targets: &targets };
        writer
            .record(Module::Lustre, Record::Lustre(record))
            .map_err(Error::of_log(recall.key()))?;
    }
    Ok(())
}

async fn heats<W: Write + Seek>(recall: &Recall, writer: &mut Writer<W>) -> Result<()> {
    for heat in recall.heats().await? {
        let record = Heatmap {
            id: heat.id,
            rank: heat.rank,
            width: Seconds(heat.width as f64 / 1e9),
            writes: &heat.written,
            reads: &heat.read,
        };
        writer
            .record(Module::Heatmap, Record::Heatmap(record))
            .map_err(Error::of_log(recall.key()))?;
    }
    Ok(())
}
