//! A scan in a thread of its own: it decodes the next batches while the consumer takes the last ones,
//! never more than [`AHEAD`] of them, and ends when nobody takes them any more.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::scan::Scan;

/// Batches that may wait.
const AHEAD: usize = 4;

type Item = Result<RecordBatch, ArrowError>;

/// Where a scan puts its batches.
pub(crate) struct Outlet {
    to: SyncSender<Item>,
}

impl Outlet {
    /// False when nobody listens any more: the scan ends.
    pub(crate) fn give(&self, batch: Item) -> bool {
        self.to.send(batch).is_ok()
    }
}

/// The batches of a scan, as they come.
pub(crate) struct Feed {
    schema: SchemaRef,
    from: Receiver<Item>,
}

impl Feed {
    /// Begins a scan.
    pub(crate) fn start(scan: Scan) -> std::io::Result<Feed> {
        let (to, from) = sync_channel(AHEAD);
        let schema = scan.schema();
        thread::Builder::new().name("netra scan".into()).spawn(move || scan.run(&Outlet { to }))?;
        Ok(Feed { schema, from })
    }
}

impl Iterator for Feed {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.from.recv().ok()
    }
}

impl RecordBatchReader for Feed {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
