//! Old rows go: whole files, by the age of their newest row and by the length of their table.

use std::sync::Arc;
use std::time::Duration;

use deltalake::kernel::Action;

use crate::table::{Change, Part, now};
use crate::{Result, Store};

impl Store {
    /// Takes files out of a table whose rows are all older than `keep`, and the oldest until it is no longer than `limit`;
    /// says how many files and bytes went.
    ///
    /// # Errors
    /// The table can not be read or written.
    pub async fn expire(
        &self,
        table: &str,
        keep: Option<Duration>,
        limit: Option<u64>,
    ) -> Result<(usize, u64)> {
        let handle = self.handle(table)?;
        let parts = handle.parts().await?;
        let age = |keep: Duration| i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
        let cut = keep.map(|keep| now().saturating_mul(1000).saturating_sub(age(keep)));
        let old = |part: &Part| match (part.latest(handle.table), cut) {
            (Some(latest), Some(cut)) => latest < cut,
            _ => false,
        };
        let (mut gone, mut left): (Vec<&Arc<Part>>, Vec<&Arc<Part>>) =
            parts.iter().partition(|part| old(part));
        let mut length: u64 = left.iter().map(|part| part.bytes).sum();
        // Parts are in the order of their days.
        while limit.is_some_and(|limit| length > limit) && !left.is_empty() {
            let oldest = left.remove(0);
            length -= oldest.bytes;
            gone.push(oldest);
        }
        if gone.is_empty() {
            return Ok((0, 0));
        }
        let bytes = gone.iter().map(|part| part.bytes).sum();
        let removes = gone.iter().map(|part| Action::Remove(part.remove(true, now())));
        handle.exchange(removes.collect(), Change::Expire).await?;
        Ok((gone.len(), bytes))
    }
}
