//! New files of a day, which are part of no version until a commit says so.

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::kernel::Add;

use crate::Result;
use crate::table::{Encoder, Handle, add, now};

/// A file of this length is large.
pub(super) const LARGE: u64 = 64 << 20;

/// Files that are being written, one after the other.
pub(super) struct Writing<'a> {
    handle: &'a Handle,
    day: i32,
    encoder: Encoder,
    adds: Vec<Add>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(handle: &'a Handle, day: i32) -> Result<Writing<'a>> {
        Ok(Writing { handle, day, encoder: Encoder::new(handle.table)?, adds: Vec::new() })
    }

    /// Appends rows, which were fitted and are sorted behind those before.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.encoder.write(batch)?;
        if self.encoder.bytes() as u64 > LARGE { self.put().await } else { Ok(()) }
    }

    /// The new files.
    pub(super) async fn finish(mut self) -> Result<Vec<Add>> {
        if self.encoder.rows() > 0 {
            self.put().await?;
        }
        Ok(self.adds)
    }

    async fn put(&mut self) -> Result<()> {
        let table = self.handle.table;
        let full = std::mem::replace(&mut self.encoder, Encoder::new(table)?);
        let (bytes, metadata) = full.finish()?;
        let length = bytes.len();
        let path = self.handle.put(self.day, bytes).await?;
        self.adds.push(add(table, path, self.day, length, &metadata, now()));
        Ok(())
    }
}
