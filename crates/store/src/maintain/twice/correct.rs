//! Roll-ups of rows that were there twice: which sums are wrong by that, and what is right.
//!
//! A sum is put right if it is exactly what the rows with their copies add up to, and left alone if it is what they add up to without.
//! Anything else can not be told from here: rows that it was made of have expired, or are on their way.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray as _, BooleanArray};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use deltalake::kernel::Add;
use futures::StreamExt as _;

use super::find::Found;
use super::question;
use crate::maintain::compact::{WINDOW, order};
use crate::maintain::window::windows;
use crate::maintain::writing::Writing;
use crate::table::{Handle, Part, fit};
use crate::{Error, Result};

/// What the column [`question::STATE`] says of a row.
pub(super) mod state {
    /// It is right.
    pub(in super::super) const RIGHT: i64 = 0;
    /// It was put right.
    pub(in super::super) const CORRECTED: i64 = 1;
    /// Nobody knows what is right.
    pub(in super::super) const LEFT: i64 = 2;
    /// There is no such row, and nobody knows what would be right.
    pub(in super::super) const LEFT_ABSENT: i64 = 3;
    /// It was made of copies alone, and goes.
    pub(in super::super) const GONE: i64 = 4;
    /// There is no such row, rightly.
    pub(in super::super) const ABSENT: i64 = 5;
}

/// Files of a roll-up, and those that can take their place.
pub(super) struct Corrected {
    pub(super) old: Vec<Arc<Part>>,
    pub(super) new: Vec<Add>,
    /// Sums that are right there and were not.
    pub(super) sums: u64,
    /// Sums of which nobody knows what is right.
    pub(super) left: u64,
}

impl Handle {
    /// Writes the rows of this roll-up into new files, with what the tables `every` and `once` of the session say; no version has
    /// those yet.
    pub(super) async fn correct(
        &self,
        session: &SessionContext,
        day: i32,
        found: &Found,
    ) -> Result<Corrected> {
        let old = self.of_day(day).await?;
        let old: Vec<Arc<Part>> =
            old.into_iter().filter(|part| found.may_be_in(self.table, part)).collect();
        session.register_table("part", Arc::new(self.scan_of(old.clone()).await?))?;
        let mut writing = Writing::new(self, day)?;
        let (mut sums, mut left) = (0, 0);
        let (condition, order) = (found.condition(self.table), order(self.table));
        for window in windows(session, self.table, WINDOW).await? {
            let rows = question::corrected(self.table, &window, &condition);
            let question = format!("{rows} order by {order}");
            let mut rows = session.sql(&question).await?.execute_stream().await?;
            while let Some(batch) = rows.next().await {
                let mut batch = batch?;
                let at = batch.schema().index_of(question::STATE)?;
                let states = batch.remove_column(at);
                let states = states.as_primitive_opt::<Int64Type>().ok_or_else(|| Error::Rows {
                    table: self.table.name,
                    why: "its state is no number".to_owned(),
                })?;
                let count = |which: &[i64]| {
                    states.values().iter().filter(|state| which.contains(state)).count() as u64
                };
                sums += count(&[state::CORRECTED, state::GONE]);
                left += count(&[state::LEFT, state::LEFT_ABSENT]);
                let there = |&state: &i64| state < state::LEFT_ABSENT;
                let there: BooleanArray = states.values().iter().map(there).map(Some).collect();
                let rows = fit(self.table, &filter_record_batch(&batch, &there)?)?;
                if rows.num_rows() > 0 {
                    writing.write(&rows).await?;
                }
            }
        }
        session.deregister_table("part")?;
        Ok(Corrected { old, new: writing.finish().await?, sums, left })
    }
}
