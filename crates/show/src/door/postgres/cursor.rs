//! Cursors: an answer that is fetched in parts. Nothing of it is kept but the batch that a part ended in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use futures::{Stream, StreamExt as _};
use netra_store::ask::{self, Answer};

/// An open cursor.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) schema: SchemaRef,
    rest: tokio::sync::Mutex<Rest>,
}

#[derive(Debug)]
struct Rest {
    answer: Answer,
    begun: Option<RecordBatch>,
}

impl Cursor {
    pub(super) fn new(answer: Answer) -> Cursor {
        let schema = answer.schema();
        Cursor { schema, rest: tokio::sync::Mutex::new(Rest { answer, begun: None }) }
    }

    /// The next so many rows, or all that are left.
    pub(super) fn fetch(
        self: Arc<Cursor>,
        rows: Option<usize>,
    ) -> impl Stream<Item = ask::Result<RecordBatch>> + Send + 'static {
        let left = rows.unwrap_or(usize::MAX);
        futures::stream::unfold((self, left, true), |(cursor, left, first)| async move {
            if left == 0 {
                return None;
            }
            let mut rest = cursor.rest.lock().await;
            if first {
                // Each part may take as long as a question.
                rest.answer.restart();
            }
            let next = rest.next(left).await?;
            drop(rest);
            let taken = next.as_ref().map_or(left, RecordBatch::num_rows);
            Some((next, (cursor, left - taken, false)))
        })
    }
}

impl Rest {
    async fn next(&mut self, most: usize) -> Option<ask::Result<RecordBatch>> {
        let batch = match self.begun.take() {
            Some(batch) => batch,
            None => match self.answer.next().await? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        let taken = most.min(batch.num_rows());
        if taken < batch.num_rows() {
            self.begun = Some(batch.slice(taken, batch.num_rows() - taken));
        }
        Some(Ok(batch.slice(0, taken)))
    }
}

/// The cursors of one connection.
#[derive(Debug, Default)]
pub(super) struct Cursors(Mutex<HashMap<String, Arc<Cursor>>>);

impl Cursors {
    pub(super) fn open(&self, name: &str, cursor: Cursor) {
        if let Ok(mut all) = self.0.lock() {
            all.insert(name.to_owned(), Arc::new(cursor));
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Cursor>> {
        self.0.lock().ok()?.get(name).cloned()
    }

    /// Closes one; whether it was there.
    pub(super) fn close(&self, name: &str) -> bool {
        self.0.lock().is_ok_and(|mut all| all.remove(name).is_some())
    }

    pub(super) fn close_all(&self) {
        if let Ok(mut all) = self.0.lock() {
            all.clear();
        }
    }
}
