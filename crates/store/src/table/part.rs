//! A file of a table: where it is, how many rows it has, and between which bounds its columns lie.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::common::stats::{ColumnStatistics, Precision, Statistics};
use deltalake::kernel::{Add, LogicalFileView, Remove};
use deltalake::parquet::file::metadata::ParquetMetaData;
use deltalake::parquet::file::statistics::Statistics as Bounds;
use serde_json::{Map, Value, json};

use crate::calendar;
use crate::schema::{DAY, Kind, Table};

/// A file of a table.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Below the table's own place.
    pub(crate) path: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// Its rows, if the log says so.
    pub(crate) rows: Option<u64>,
    /// Its day.
    pub(crate) day: Option<i32>,
    /// When it was written, milliseconds since 1970.
    pub(crate) written: i64,
    /// Bounds of each column, in the order of the table as it is asked.
    pub(crate) statistics: Arc<Statistics>,
    add: Add,
}

impl Part {
    /// What the log says of a file.
    pub(crate) fn of(table: &Table, view: &LogicalFileView) -> Part {
        let add = Add {
            path: view.path().into_owned(),
            partition_values: view.partition_values_map(),
            size: view.size(),
            modification_time: view.modification_time(),
            stats: view.stats(),
            ..Add::default()
        };
        Part::new(table, add)
    }

    /// What its entry in the log says.
    pub(crate) fn new(table: &Table, add: Add) -> Part {
        let told = add.stats.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let told: Value = told.unwrap_or_default();
        let day = add.partition_values.get(DAY).and_then(Option::as_deref);
        let day = day.and_then(calendar::parse_day);
        let rows = told.get("numRecords").and_then(Value::as_u64);
        let bound = |which: &str, name: &str, kind: Kind| {
            let value = told.get(which)?.get(name)?;
            scalar(kind, value)
        };
        let known = |value: Option<ScalarValue>| value.map_or(Precision::Absent, Precision::Exact);
        let mut columns: Vec<ColumnStatistics> = Vec::with_capacity(table.columns.len() + 1);
        for column in &table.columns {
            let nulls = told.get("nullCount").and_then(|counts| counts.get(&column.name));
            let nulls = nulls.and_then(Value::as_u64).and_then(|nulls| usize::try_from(nulls).ok());
            columns.push(ColumnStatistics {
                min_value: known(bound("minValues", &column.name, column.kind)),
                max_value: known(bound("maxValues", &column.name, column.kind)),
                null_count: nulls.map_or(Precision::Absent, Precision::Exact),
                ..ColumnStatistics::new_unknown()
            });
        }
        let day_value = known(day.map(|day| ScalarValue::Date32(Some(day))));
        columns.push(ColumnStatistics {
            min_value: day_value.clone(),
            max_value: day_value,
            null_count: Precision::Exact(0),
            ..ColumnStatistics::new_unknown()
        });
        let count = rows.and_then(|rows| usize::try_from(rows).ok());
        let statistics = Arc::new(Statistics {
            num_rows: count.map_or(Precision::Absent, Precision::Exact),
            total_byte_size: Precision::Absent,
            column_statistics: columns,
        });
        let bytes = u64::try_from(add.size).unwrap_or(0);
        let (path, written) = (add.path.clone(), add.modification_time);
        Part { path, bytes, rows, day, written, statistics, add }
    }

    /// The latest moment in the file, microseconds since 1970.
    pub(crate) fn latest(&self, table: &Table) -> Option<i64> {
        let at = table.columns.iter().position(|column| column.name == table.time)?;
        match self.statistics.column_statistics.get(at)?.max_value.get_value() {
            Some(ScalarValue::TimestampMicrosecond(latest, _)) => *latest,
            _ => None,
        }
    }

    /// What takes it out of the table; `changes` unless its rows are in other files of the same commit.
    pub(crate) fn remove(&self, changes: bool, now: i64) -> Remove {
        Remove {
            path: self.add.path.clone(),
            data_change: changes,
            deletion_timestamp: Some(now),
            extended_file_metadata: Some(true),
            partition_values: Some(self.add.partition_values.clone()),
            size: Some(self.add.size),
            tags: None,
            deletion_vector: None,
            base_row_id: None,
            default_row_commit_version: None,
        }
    }
}

/// A bound as the log writes it.
fn scalar(kind: Kind, value: &Value) -> Option<ScalarValue> {
    Some(match kind {
        Kind::Text => ScalarValue::Utf8View(Some(value.as_str()?.to_owned())),
        Kind::Long => ScalarValue::Int64(Some(value.as_i64()?)),
        Kind::Short => ScalarValue::Int16(Some(i16::try_from(value.as_i64()?).ok()?)),
        Kind::Double => ScalarValue::Float64(Some(value.as_f64()?)),
        Kind::Time => {
            let micros = calendar::parse_moment(value.as_str()?)?;
            ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into()))
        }
        _ => return None,
    })
}

/// Whether the log keeps bounds of a column: those that people filter by. All columns have theirs in the file itself.
fn is_bounded(table: &Table, name: &str) -> bool {
    let filtered = ["uid", "file_id", "process", "op", "layer", "node"];
    table.sort.contains(&name) || name == table.time || filtered.contains(&name)
}

/// The action that puts a new file into a table.
pub(crate) fn add(
    table: &Table,
    path: String,
    day: i32,
    size: usize,
    metadata: &ParquetMetaData,
    now: i64,
) -> Add {
    let (mut least, mut most, mut nulls) = (Map::new(), Map::new(), Map::new());
    for (at, column) in table.columns.iter().enumerate() {
        if !is_bounded(table, &column.name) {
            continue;
        }
        let bounds: Option<Vec<&Bounds>> =
            metadata.row_groups().iter().map(|group| group.column(at).statistics()).collect();
        let Some(bounds) = bounds else { continue };
        let lows = bounds.iter().filter_map(|bound| value(column.kind, bound, false));
        let highs = bounds.iter().filter_map(|bound| value(column.kind, bound, true));
        if let Some(low) = lows.reduce(|a, b| if below(&b, &a) { b } else { a }) {
            least.insert(column.name.clone(), low);
        }
        if let Some(high) = highs.reduce(|a, b| if below(&a, &b) { b } else { a }) {
            most.insert(column.name.clone(), high);
        }
        let counts: Option<u64> = bounds.iter().map(|bound| bound.null_count_opt()).sum();
        if let Some(count) = counts {
            nulls.insert(column.name.clone(), json!(count));
        }
    }
    let rows = metadata.file_metadata().num_rows();
    let told =
        json!({"numRecords": rows, "minValues": least, "maxValues": most, "nullCount": nulls});
    Add {
        path,
        partition_values: HashMap::from([(DAY.to_owned(), Some(calendar::day(day)))]),
        size: i64::try_from(size).unwrap_or(i64::MAX),
        modification_time: now,
        data_change: true,
        stats: Some(told.to_string()),
        tags: None,
        deletion_vector: None,
        base_row_id: None,
        default_row_commit_version: None,
        clustering_provider: None,
    }
}

fn below(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a < b,
            _ => a.as_f64() < b.as_f64(),
        },
        (Value::String(a), Value::String(b)) => a < b,
        _ => false,
    }
}

fn value(kind: Kind, bounds: &Bounds, high: bool) -> Option<Value> {
    macro_rules! pick {
        ($of:expr) => {
            if high { $of.max_opt() } else { $of.min_opt() }
        };
    }
    Some(match (kind, bounds) {
        (Kind::Time, Bounds::Int64(of)) => json!(calendar::moment(*pick!(of)?)),
        (Kind::Long, Bounds::Int64(of)) => json!(*pick!(of)?),
        (Kind::Short, Bounds::Int32(of)) => json!(*pick!(of)?),
        (Kind::Double, Bounds::Double(of)) => json!(*pick!(of)?),
        (Kind::Text, Bounds::ByteArray(of)) => json!(std::str::from_utf8(pick!(of)?.data()).ok()?),
        _ => return None,
    })
}
