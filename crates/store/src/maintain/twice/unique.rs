//! The rows of a day in new files, each once.
//!
//! Of rows with one name the first stays: in the table's order, and among those that are equal in that the one that says more. Which
//! file a row lies in and who brought it makes no difference.

use std::sync::Arc;

use datafusion::arrow::array::BooleanArray;
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::prelude::SessionContext;
use deltalake::kernel::Add;
use futures::StreamExt as _;

use super::find::Found;
use super::seen::Seen;
use crate::Result;
use crate::maintain::compact::{WINDOW, order, rows_of, session, whole_order};
use crate::maintain::window::windows;
use crate::maintain::writing::Writing;
use crate::table::{Handle, Part, fit};

/// Files, and those that can take their place.
pub(super) struct Unique {
    pub(super) old: Vec<Arc<Part>>,
    pub(super) new: Vec<Add>,
    /// Rows that are left out.
    pub(super) removed: u64,
    /// Those among them that differ from the one that stays.
    pub(super) differing: u64,
}

impl Handle {
    /// Writes the rows of files that could hold what was found into new ones, each once; no version has those yet.
    pub(super) async fn unique(
        &self,
        day: i32,
        found: &Found,
        parts: Vec<Arc<Part>>,
    ) -> Result<Unique> {
        let old: Vec<Arc<Part>> =
            parts.into_iter().filter(|part| found.may_be_in(self.table, part)).collect();
        let session = session()?;
        session.register_table("part", Arc::new(self.scan_of(old.clone()).await?))?;
        let mut writing = Writing::new(self, day)?;
        let (mut removed, mut differing) = (0, 0);
        let condition = found.condition(self.table);
        for window in windows(&session, self.table, WINDOW).await? {
            let is_meant = has_rows(&session, &format!("{window} and {condition}")).await?;
            let order = if is_meant { whole_order(self.table) } else { order(self.table) };
            let question = format!("{} order by {order}", rows_of(self.table, &window));
            let mut rows = session.sql(&question).await?.execute_stream().await?;
            let (mut seen, mut copies) = (Seen::of(self.table), Copies::default());
            while let Some(batch) = rows.next().await {
                let batch = fit(self.table, &batch?)?;
                let stays = match seen.as_mut().filter(|_| is_meant) {
                    Some(seen) => seen.look(&batch)?,
                    None => None,
                };
                if is_meant {
                    differing += copies.differing(&batch, stays.as_ref())?;
                }
                let Some(stays) = stays else {
                    writing.write(&batch).await?;
                    continue;
                };
                removed += stays.false_count() as u64;
                let kept = filter_record_batch(&batch, &stays)?;
                if kept.num_rows() > 0 {
                    writing.write(&kept).await?;
                }
            }
        }
        Ok(Unique { old, new: writing.finish().await?, removed, differing })
    }
}

async fn has_rows(session: &SessionContext, condition: &str) -> Result<bool> {
    let question = format!("select 1 from part where {condition} limit 1");
    let rows = session.sql(&question).await?.collect().await?;
    Ok(rows.iter().any(|batch| batch.num_rows() > 0))
}

/// Tells honest copies from others: in the whole order they follow each other.
#[derive(Default)]
struct Copies {
    converter: Option<RowConverter>,
    last: Option<OwnedRow>,
}

impl Copies {
    /// How many of the rows that go differ from the row before them.
    fn differing(&mut self, batch: &RecordBatch, stays: Option<&BooleanArray>) -> Result<u64> {
        let count = batch.num_rows();
        if count == 0 {
            return Ok(0);
        }
        let converter = match &mut self.converter {
            Some(converter) => converter,
            None => {
                let fields = batch.columns().iter();
                let fields = fields.map(|column| SortField::new(column.data_type().clone()));
                self.converter.insert(RowConverter::new(fields.collect())?)
            }
        };
        let mut differing = 0;
        // The last row is what the next batch may begin with a copy of; the others matter only where something goes.
        let from = if stays.is_some() { 0 } else { count - 1 };
        let rows = converter.convert_columns(batch.slice(from, count - from).columns())?;
        for (at, row) in rows.iter().enumerate() {
            let goes = stays.is_some_and(|stays| !stays.value(from + at));
            let before = match at {
                0 => self.last.as_ref().map(OwnedRow::row),
                at => Some(rows.row(at - 1)),
            };
            differing += u64::from(goes && before != Some(row));
        }
        self.last = Some(rows.row(rows.num_rows() - 1).owned());
        Ok(differing)
    }
}
