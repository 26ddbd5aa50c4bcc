//! Rows of tables that can not be written now, each with the position of the batch it came with: nobody knows before the table is mended
//! which of them it has.

use std::collections::BTreeMap;

use datafusion::arrow::record_batch::RecordBatch;

/// Rows by table, and the positions behind the batches they came with.
pub(super) type Placed = Vec<(i64, RecordBatch)>;

/// Rows of tables that can not be written now.
#[derive(Debug, Default)]
pub(super) struct Apart {
    tables: BTreeMap<&'static str, Placed>,
}

impl Apart {
    /// Of these tables, none yet.
    pub(super) fn of(tables: impl IntoIterator<Item = &'static str>) -> Apart {
        Apart { tables: tables.into_iter().map(|table| (table, Placed::new())).collect() }
    }

    /// Tables that can not be written.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.tables.keys().copied().collect()
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.tables.values().flatten().map(|(_, batch)| batch.num_rows()).sum()
    }

    /// Rows of a table that came with the batch before this position.
    pub(super) fn put(&mut self, table: &'static str, position: i64, rows: Vec<RecordBatch>) {
        let placed = rows.into_iter().map(|batch| (position, batch));
        self.tables.entry(table).or_default().extend(placed);
    }

    /// All rows; the tables stay.
    pub(super) fn take(&mut self) -> Vec<(&'static str, Placed)> {
        let full = self.tables.iter_mut().filter(|(_, rows)| !rows.is_empty());
        full.map(|(table, rows)| (*table, std::mem::take(rows))).collect()
    }

    /// A table can be written again.
    pub(super) fn remove(&mut self, table: &str) {
        self.tables.remove(table);
    }
}
