//! An answer: rows as they come, until they end, time is up, or somebody stops it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::Stream;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tokio::time::Sleep;

use super::error::{Error, Kind};

/// Stops the answers of a session.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Stops what runs now; the next question is not touched.
    pub fn stop(&self) {
        self.0.notify_waiters();
    }
}

/// What ends an answer before its rows do.
pub(super) struct Bounds {
    stopped: Pin<Box<OwnedNotified>>,
    timeout: Option<(Pin<Box<Sleep>>, Duration)>,
}

impl Bounds {
    /// Counts from now.
    pub(super) fn new(stopper: &Stopper, timeout: Option<Duration>) -> Bounds {
        let mut stopped = Box::pin(Arc::clone(&stopper.0).notified_owned());
        // A stop between here and the first look must count.
        stopped.as_mut().enable();
        let timeout = timeout.map(|time| (Box::pin(tokio::time::sleep(time)), time));
        Bounds { stopped, timeout }
    }

    /// The error, if the end has come.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        if self.stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(Error::new(Kind::Stopped, "the question was stopped"));
        }
        if let Some((sleep, time)) = &mut self.timeout
            && sleep.as_mut().poll(context).is_ready()
        {
            let message = format!("the question took longer than {} s", time.as_secs_f64());
            return Poll::Ready(
                Error::new(Kind::Timeout, message).hint("ask for less, or raise the timeout"),
            );
        }
        Poll::Pending
    }

    fn restart(&mut self) {
        if let Some((sleep, time)) = &mut self.timeout {
            sleep.as_mut().reset(tokio::time::Instant::now() + *time);
        }
    }

    /// Waits for something, but not longer than allowed.
    pub(super) async fn hold<T>(
        &mut self,
        work: impl Future<Output = super::Result<T>>,
    ) -> super::Result<T> {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|context| match self.poll(context) {
            Poll::Ready(error) => Poll::Ready(Err(error)),
            Poll::Pending => work.as_mut().poll(context),
        })
        .await
    }
}

/// The rows of one question. Dropping it stops the work.
pub struct Answer {
    schema: SchemaRef,
    titles: SchemaRef,
    rows: SendableRecordBatchStream,
    bounds: Bounds,
    tables: Vec<String>,
    ended: bool,
}

impl Answer {
    pub(super) fn new(
        rows: SendableRecordBatchStream,
        titles: SchemaRef,
        bounds: Bounds,
        tables: Vec<String>,
    ) -> Answer {
        Answer { schema: rows.schema(), titles, rows, bounds, tables, ended: false }
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The same with the units of columns that come from a table as they are (metadata `unit`).
    #[must_use]
    pub fn titles(&self) -> SchemaRef {
        Arc::clone(&self.titles)
    }

    /// Time counts from now again: for an answer that is fetched in parts.
    pub fn restart(&mut self) {
        self.bounds.restart();
    }

    /// All rows at once; for small answers.
    pub async fn collect(self) -> super::Result<Vec<RecordBatch>> {
        futures::TryStreamExt::try_collect(self).await
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Stream for Answer {
    type Item = super::Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        if let Poll::Ready(error) = this.bounds.poll(context) {
            this.ended = true;
            return Poll::Ready(Some(Err(error)));
        }
        let next = std::task::ready!(this.rows.as_mut().poll_next(context));
        this.ended = !matches!(next, Some(Ok(_)));
        Poll::Ready(next.map(|rows| rows.map_err(|error| Error::of(&error, &this.tables))))
    }
}
