//! Batches made in a thread of its own: the next are made while the consumer takes the last ones, never
//! more than [`AHEAD`] of them, and it ends when nobody takes them any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;

use crate::error;
use crate::patience::DEAF;

/// Batches that may wait.
const AHEAD: usize = 4;

/// A batch, or why there is none.
pub(crate) type Item = Result<RecordBatch, ArrowError>;

/// Where batches go.
pub(crate) struct Outlet {
    to: SyncSender<Item>,
    unwanted: Arc<AtomicBool>,
}

impl Outlet {
    /// False when nobody listens any more: the work ends.
    pub(crate) fn give(&self, batch: Item) -> bool {
        self.to.send(batch).is_ok()
    }

    /// Whether somebody still listens, for who works long on a batch.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.unwanted.load(Ordering::Relaxed)
    }
}

/// Ends what a feed waits for, if it is something outside of this process.
pub(crate) type End = Box<dyn Fn() + Send + Sync>;

/// Batches as they come.
pub(crate) struct Feed {
    schema: SchemaRef,
    from: Receiver<Item>,
    unwanted: Arc<AtomicBool>,
    end: Option<End>,
}

impl Feed {
    /// Begins to work.
    pub(crate) fn start(
        schema: SchemaRef,
        end: Option<End>,
        work: impl FnOnce(&Outlet) + Send + 'static,
    ) -> std::io::Result<Feed> {
        let (to, from) = sync_channel(AHEAD);
        let unwanted = Arc::new(AtomicBool::new(false));
        let outlet = Outlet { to, unwanted: Arc::clone(&unwanted) };
        thread::Builder::new().name("netra feed".into()).spawn(move || work(&outlet))?;
        Ok(Feed { schema, from, unwanted, end })
    }

    /// The same once the columns are known.
    pub(crate) fn with_schema(mut self, schema: SchemaRef) -> Feed {
        self.schema = schema;
        self
    }

    /// The next batch, while Ctrl-C gets through, and `wait` is called now and then.
    pub(crate) fn next_for(
        &mut self,
        py: Python<'_>,
        wait: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<Option<RecordBatch>> {
        loop {
            let from = &mut self.from;
            // Moved in, because two threads can not wait for one feed.
            match py.detach(move || from.recv_timeout(DEAF)) {
                Ok(batch) => {
                    py.check_signals()?;
                    return batch.map(Some).map_err(|error| error::of_batch(&error));
                }
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals()?;
                    wait()?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
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

impl Drop for Feed {
    fn drop(&mut self) {
        self.unwanted.store(true, Ordering::Relaxed);
        if let Some(end) = &self.end {
            end();
        }
    }
}
