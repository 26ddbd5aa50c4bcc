//! Which rows of a day are there more often than once: a look at the columns that name them, and at nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::compute::{cast, filter_record_batch, not};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use futures::StreamExt as _;

use super::seen::{Seen, wanted};
use crate::Result;
use crate::maintain::compact::{name, session};
use crate::maintain::window::windows;
use crate::recall::quoted;
use crate::schema::Table;
use crate::table::{Handle, Part};

/// Rows whose names are remembered together: a few columns of them are read, and of an event a bit is kept.
const WINDOW: u64 = 1 << 22;
/// The column of the process that a row is of.
const PROCESS: &str = "process";

/// Rows that are there more often than once.
#[derive(Debug, Clone, Default)]
pub(in crate::maintain) struct Found {
    /// How many are too many.
    pub(in crate::maintain) rows: u64,
    /// Whose they are: values of the first column of the table's order.
    pub(in crate::maintain) of: BTreeSet<String>,
    /// How many are too many, by process, where rows have one.
    pub(in crate::maintain) processes: BTreeMap<i64, u64>,
}

impl Found {
    /// The condition that a row could be one of them.
    pub(super) fn condition(&self, table: &Table) -> String {
        let list: Vec<String> = self.of.iter().map(|value| quoted(value)).collect();
        let first = table.sort.first().copied().unwrap_or_default();
        format!("{} in ({})", name(first), list.join(", "))
    }

    /// Whether a file could hold some of them, or what was made of them.
    pub(super) fn may_be_in(&self, table: &Table, part: &Part) -> bool {
        let at = table
            .sort
            .first()
            .and_then(|first| table.columns.iter().position(|column| column.name == **first));
        let bounds = at.and_then(|at| part.statistics.column_statistics.get(at));
        let text = |value: Option<&ScalarValue>| match value {
            Some(ScalarValue::Utf8View(text)) => text.clone(),
            _ => None,
        };
        let least = bounds.and_then(|bounds| text(bounds.min_value.get_value()));
        let most = bounds.and_then(|bounds| text(bounds.max_value.get_value()));
        match (least, most) {
            (Some(least), Some(most)) if least <= most => {
                self.of.range(least..=most).next().is_some()
            }
            _ => true,
        }
    }
}

impl Handle {
    /// The files of a day.
    pub(in crate::maintain) async fn of_day(&self, day: i32) -> Result<Vec<Arc<Part>>> {
        let parts = self.parts().await?;
        Ok(parts.iter().filter(|part| part.day == Some(day)).cloned().collect())
    }

    /// Looks for rows of these files that are there more often than once.
    pub(in crate::maintain) async fn find_twice(&self, parts: Vec<Arc<Part>>) -> Result<Found> {
        let mut found = Found::default();
        let Some(mut seen) = Seen::of(self.table) else { return Ok(found) };
        let mut columns = wanted(self.table);
        let first = self.table.sort.first().copied();
        let process = self.table.column(PROCESS).map(|_| PROCESS);
        columns.extend(first.into_iter().chain(process));
        columns.sort_unstable();
        columns.dedup();
        let columns = columns.into_iter().map(name).collect::<Vec<_>>().join(", ");
        let session = session()?;
        session.register_table("part", Arc::new(self.scan_of(parts).await?))?;
        for window in windows(&session, self.table, WINDOW).await? {
            seen.forget();
            let question = format!("select {columns} from part where {window}");
            let mut rows = session.sql(&question).await?.execute_stream().await?;
            while let Some(batch) = rows.next().await {
                let batch = batch?;
                let Some(stays) = seen.look(&batch)? else { continue };
                let again = filter_record_batch(&batch, &not(&stays)?)?;
                found.rows += again.num_rows() as u64;
                let of = first.and_then(|first| again.column_by_name(first));
                if let Some(of) = of {
                    let of = cast(of, &DataType::Utf8)?;
                    let of = of.as_string::<i32>();
                    let fresh = of.iter().flatten().filter(|of| !found.of.contains(*of));
                    let fresh: BTreeSet<String> = fresh.map(str::to_owned).collect();
                    found.of.extend(fresh);
                }
                let processes = process.and_then(|process| again.column_by_name(process));
                let processes = processes.and_then(|of| of.as_primitive_opt::<Int64Type>());
                for process in processes.into_iter().flatten().flatten() {
                    *found.processes.entry(process).or_default() += 1;
                }
            }
        }
        Ok(found)
    }
}
