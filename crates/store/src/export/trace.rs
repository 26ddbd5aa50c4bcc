//! Reads and writes as an extended trace: a record for each file and rank, writes before reads.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use netra_darshan::read::DxtHead;
use netra_darshan::record::dxt::Segment;
use netra_darshan::write::Writer;
use netra_event::{Module, Rank, RecordId};

use crate::recall::{Called, Head, Order, Recall};
use crate::{Error, Result};

/// The calls of one rank on one file.
#[derive(Default)]
struct Both {
    host: String,
    writes: Vec<Segment>,
    reads: Vec<Segment>,
}

pub(super) async fn write<W: Write + Seek>(
    recall: &Recall,
    head: &Head,
    module: Module,
    writer: &mut Writer<W>,
) -> Result<()> {
    let layer = if module == Module::DxtMpiio { Module::Mpiio } else { Module::Posix };
    // Records in the order in which their first call comes, as the log had them.
    let mut order: Vec<(RecordId, i64)> = Vec::new();
    let mut found: BTreeMap<(RecordId, i64), Both> = BTreeMap::new();
    recall
        .calls(Order::Log, Some(layer.name()), &mut |call| {
            let (Some(file), None) = (call.file, call.error) else { return };
            if !matches!(call.op, "read" | "write") || call.rank < 0 {
                return;
            }
            let both = found.entry((file, call.rank)).or_insert_with(|| {
                order.push((file, call.rank));
                Both { host: call.node.to_owned(), ..Both::default() }
            });
            let list = if call.op == "read" { &mut both.reads } else { &mut both.writes };
            list.push(segment(call, head.start));
        })
        .await?;
    for key in order {
        let Some(both) = found.remove(&key) else { continue };
        let head = DxtHead {
            id: key.0,
            rank: Rank(key.1),
            host: both.host.into_bytes(),
            writes: both.writes.len() as u64,
            reads: both.reads.len() as u64,
        };
        let mut put = || {
            writer.begin_trace(module, &head)?;
            writer.segments(&both.writes)?;
            writer.segments(&both.reads)?;
            writer.end_trace()
        };
        put().map_err(Error::of_log(recall.key()))?;
    }
    Ok(())
}

fn segment(call: &Called<'_>, start: i64) -> Segment {
    let seconds = |nanos: i64| nanos as f64 / 1e9;
    let begins = call.start.saturating_sub(start);
    Segment {
        offset: call.offset.unwrap_or(-1),
        length: call.bytes,
        start: seconds(begins),
        end: seconds(begins.saturating_add(call.took)),
        thread: None,
    }
}
