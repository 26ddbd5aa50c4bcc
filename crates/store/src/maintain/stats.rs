//! What a store holds.

use crate::calendar;
use crate::schema::TABLES;
use crate::{Result, Store};

/// What a table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The table.
    pub table: &'static str,
    /// The version of its log.
    pub version: u64,
    /// Its files.
    pub files: usize,
    /// Its rows; nothing if a file does not say.
    pub rows: Option<u64>,
    /// Its bytes.
    pub bytes: u64,
    /// The first and the last day, as text.
    pub days: Option<(String, String)>,
}

impl Store {
    /// What every table holds, or why it can not be read. Tables without rows are left out.
    pub async fn stats(&self) -> Vec<(&'static str, Result<Stats>)> {
        let mut all = Vec::new();
        for table in TABLES.iter() {
            match self.table_stats(table.name).await {
                Ok(None) => {}
                Ok(Some(stats)) => all.push((table.name, Ok(stats))),
                Err(error) => all.push((table.name, Err(error))),
            }
        }
        all
    }

    async fn table_stats(&self, name: &'static str) -> Result<Option<Stats>> {
        let scan = self.scan(name).await?;
        let parts = &scan.parts;
        let days = || parts.iter().filter_map(|part| part.day);
        let days = days().min().zip(days().max());
        let stats = Stats {
            table: name,
            version: scan.version(),
            files: parts.len(),
            rows: parts.iter().map(|part| part.rows).sum(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            days: days.map(|(first, last)| (calendar::day(first), calendar::day(last))),
        };
        Ok((stats.files > 0).then_some(stats))
    }
}
