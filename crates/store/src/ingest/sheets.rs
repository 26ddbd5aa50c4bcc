//! Sheets by table: rows of the tables that get few.

use std::collections::BTreeMap;

use datafusion::arrow::record_batch::RecordBatch;

use crate::schema;
use crate::sheet::Sheet;
use crate::{Error, Result};

/// Rows by table, and whether a table wants any.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    sheets: BTreeMap<&'static str, Sheet>,
    finished: BTreeMap<&'static str, Vec<RecordBatch>>,
}

impl Sheets {
    /// The sheet of a table.
    pub(super) fn of(&mut self, name: &str) -> Result<&mut Sheet> {
        let missing = || Error::NoTable { name: name.to_owned() };
        let table = schema::table(name).ok_or_else(missing)?;
        Ok(self.sheets.entry(table.name).or_insert_with(|| Sheet::of(table)))
    }

    /// The rows of a table so far; they stay.
    pub(super) fn rows(&mut self, name: &'static str) -> Result<&[RecordBatch]> {
        if let Some(sheet) = self.sheets.get_mut(name)
            && sheet.rows() > 0
        {
            let batch = sheet.finish()?;
            self.finished.entry(name).or_default().push(batch);
        }
        Ok(self.finished.get(name).map_or(&[], Vec::as_slice))
    }

    /// Tables that have rows.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let open = self.sheets.iter().filter(|(_, sheet)| sheet.rows() > 0).map(|(name, _)| *name);
        let mut names: Vec<_> = open.chain(self.finished.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Rows of all tables.
    pub(super) fn count(&self) -> usize {
        let finished = self.finished.values().flatten().map(RecordBatch::num_rows);
        self.sheets.values().map(Sheet::rows).chain(finished).sum()
    }

    /// Forgets the rows of a table.
    pub(super) fn clear(&mut self, name: &str) {
        self.sheets.remove(name);
        self.finished.remove(name);
    }
}
