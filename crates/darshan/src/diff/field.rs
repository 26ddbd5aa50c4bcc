//! A record as names and values, in an order that two records of one module share.

use super::{Fields, Value};
use crate::checksum::Crc32;
use crate::counter::{self, apmpi, apxc, lustre, posix};
use crate::read::{Counters, Direction, Dxt, Extra, Lustre, Record};
use netra_event::Module;

pub(super) fn fields(module: Module, record: Record<'_>) -> Fields {
    match record {
        Record::Counters(record) => counters(module, &record),
        Record::Lustre(record) => self::lustre(&record),
        Record::Dxt(record) => dxt(record),
        Record::Heatmap(record) => {
            let width = ("HEATMAP_F_BIN_WIDTH_SECONDS".into(), Value::Float(record.width.0));
            let reads = numbered("HEATMAP_READ_BIN_", record.reads);
            let writes = numbered("HEATMAP_WRITE_BIN_", record.writes);
            std::iter::once(width).chain(reads).chain(writes).collect()
        }
        Record::Mdhim(record) => {
            let ints = ints(&counter::mdhim::INT, record.ints);
            let floats = floats(&counter::mdhim::FLOAT, record.floats);
            ints.chain(floats).chain(numbered("MDHIM_SERVER_", record.servers)).collect()
        }
        Record::ApmpiHead(record) => floats(
            &["MPI_TOTAL_COMM_TIME_VARIANCE", "MPI_TOTAL_COMM_SYNC_TIME_VARIANCE"],
            &[record.variance_total, record.variance_sync],
        )
        .collect(),
        Record::Apmpi(record) => ints(&apmpi::INT, record.ints)
            .chain(floats(&apmpi::FLOAT, record.floats))
            .chain(floats(&apmpi::SYNC, record.sync))
            .chain(floats(&apmpi::GLOBAL, record.global))
            .collect(),
        Record::ApxcHead(record) => ints(
            &["BLADES", "CHASSIS", "GROUPS", "MEMORY_MODE", "CLUSTER_MODE", "APPLICATION"],
            &record.numbers,
        )
        .collect(),
        Record::Apxc(record) => ints(&["GROUP", "CHASSIS", "BLADE", "NODE"], &record.place)
            .chain((0..).zip(record.ints).map(|(at, &value)| {
                (apxc::Name(at).to_string(), Value::Unsigned(value.cast_unsigned()))
            }))
            .collect(),
    }
}

fn counters(module: Module, record: &Counters<'_>) -> Fields {
    let Some(table) = counter::current(module) else { return Fields::new() };
    let mut fields: Fields =
        ints(table.int, record.ints).chain(floats(table.float, record.floats)).collect();
    if module == Module::Posix
        && let Some((_, from)) = fields.get_mut(posix::RENAMED_FROM)
        && let Some(&id) = record.ints.get(posix::RENAMED_FROM)
    {
        *from = Value::Unsigned(id.cast_unsigned());
    }
    match record.extra {
        Extra::None => {}
        Extra::File(file) => fields.push(("FILE_REC_ID".into(), Value::Unsigned(file.0))),
        Extra::Dfs { pool, container } => {
            fields.push(("POOL".into(), hex(&pool)));
            fields.push(("CONTAINER".into(), hex(&container)));
        }
        Extra::Daos { pool, container, object } => {
            fields.push(("POOL".into(), hex(&pool)));
            fields.push(("CONTAINER".into(), hex(&container)));
            fields.push(("OBJECT".into(), Value::Text(format!("{}.{}", object.0, object.1))));
        }
    }
    fields
}

fn lustre(record: &Lustre<'_>) -> Fields {
    let mut fields = Fields::new();
    for (number, (component, targets)) in (1..).zip(record.parts()) {
        let stem = format!("LUSTRE_COMP{number}");
        for (suffix, &value) in lustre::SUFFIX.iter().zip(&component.numbers) {
            fields.push((format!("{stem}{suffix}"), Value::Int(value)));
        }
        let pool = component.pool.split(|&byte| byte == 0).next().unwrap_or_default();
        let pool = Value::Text(String::from_utf8_lossy(pool).into_owned());
        fields.push((format!("{stem}_POOL_NAME"), pool));
        fields.extend(numbered(&format!("{stem}_OST_ID_"), targets));
    }
    fields
}

/// Traces are compared by number, bytes and a checksum of all segments: millions do not fit.
fn dxt(mut record: Dxt<'_>) -> Fields {
    let mut sums = [(0i64, Crc32::default()); 2];
    while let Some((direction, piece)) = record.segments.next_piece() {
        let (bytes, crc) = &mut sums[usize::from(direction == Direction::Read)];
        for segment in piece {
            *bytes = bytes.saturating_add(segment.length);
            crc.update(&segment.encode());
        }
    }
    let [(written, writes), (read, reads)] = sums;
    let unsigned = |name: &str, value: u64| (name.to_owned(), Value::Unsigned(value));
    vec![
        unsigned("WRITES", record.head.writes),
        unsigned("READS", record.head.reads),
        ("BYTES_WRITTEN".into(), Value::Int(written)),
        ("BYTES_READ".into(), Value::Int(read)),
        unsigned("WRITES_CHECKSUM", writes.value().into()),
        unsigned("READS_CHECKSUM", reads.value().into()),
    ]
}

fn ints<'a>(
    names: &'a [&'static str],
    values: &'a [i64],
) -> impl Iterator<Item = (String, Value)> + 'a {
    names.iter().zip(values).map(|(name, &value)| ((*name).to_owned(), Value::Int(value)))
}

fn floats<'a>(
    names: &'a [&'static str],
    values: &'a [f64],
) -> impl Iterator<Item = (String, Value)> + 'a {
    names.iter().zip(values).map(|(name, &value)| ((*name).to_owned(), Value::Float(value)))
}

fn numbered(stem: &str, values: &[i64]) -> Vec<(String, Value)> {
    let named = |(at, &value): (usize, &i64)| (format!("{stem}{at}"), Value::Int(value));
    values.iter().enumerate().map(named).collect()
}

fn hex(bytes: &[u8]) -> Value {
    Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
