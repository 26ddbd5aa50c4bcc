//! A stored job, read back: what a log of it would say, whether it was imported, came over the stream, or still
//! runs.
//!
//! [`Recall::find`] turns what people type into a job's key; a [`Recall`] then gives the job's [`Head`], names,
//! records and calls, each as values. Nothing here knows analyses or formats; `show` makes a report of
//! it, [`crate::export`] a log.

mod call;
pub(crate) mod column;
mod head;
mod record;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt as _;

use crate::{Error, Result, Store};

pub use call::{Account, Called, Order, Site};
pub use head::{Head, Process};
pub use record::{Before, Component, Heat, Kept};

use column::Columns;

/// A stored job.
#[derive(Clone)]
pub struct Recall {
    session: SessionContext,
    job: String,
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recall {{ job: {:?} }}", self.job)
    }
}

/// Jobs that are named when a word fits several.
const SEVERAL: usize = 20;

impl Recall {
    /// The job that a word means: its key, the beginning of its key, or the scheduler's number. `session` knows the
    /// tables, and says who may see what.
    ///
    /// # Errors
    /// There is none, or there are several; then they are named.
    pub async fn find(session: &SessionContext, word: &str) -> Result<Recall> {
        let mut jobs = Recall::all(session, word, SEVERAL + 1).await?;
        let exact = jobs.first().is_some_and(|job| job.job == word);
        match jobs.len() {
            0 => Err(Error::NoJob { word: word.to_owned() }),
            1 => Ok(jobs.remove(0)),
            _ if exact => Ok(jobs.remove(0)),
            _ => {
                let jobs = jobs.into_iter().map(|job| job.job).collect();
                Err(Error::SeveralJobs { word: word.to_owned(), jobs })
            }
        }
    }

    /// Every job that a word fits, the newest first, but the one of exactly that key before all.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn all(session: &SessionContext, word: &str, most: usize) -> Result<Vec<Recall>> {
        let text = quoted(word);
        let number = word.parse::<i64>().map_or(String::new(), |id| format!(" OR job_id = {id}"));
        let sql = format!(
            "SELECT job, min(t) AS t FROM jobs WHERE starts_with(job, {text}){number} \
             GROUP BY job ORDER BY job = {text} DESC, t DESC, job LIMIT {most}"
        );
        let mut jobs = Vec::new();
        for batch in session.sql(&sql).await?.collect().await? {
            let columns = Columns::new(&batch);
            let keys = columns.texts("job")?;
            let found = (0..batch.num_rows()).filter_map(|row| keys.get(row));
            let found = found.map(|key| Recall { session: session.clone(), job: key.to_owned() });
            jobs.extend(found);
        }
        Ok(jobs)
    }

    /// The same for a store whose tables whoever calls may see in full.
    ///
    /// # Errors
    /// As [`Recall::find`].
    pub async fn find_in(store: &Store, word: &str) -> Result<Recall> {
        Recall::find(&session(store).await?, word).await
    }

    /// Every job of such a store that a word fits.
    ///
    /// # Errors
    /// As [`Recall::all`].
    pub async fn all_in(store: &Store, word: &str) -> Result<Vec<Recall>> {
        Recall::all(&session(store).await?, word, usize::MAX >> 1).await
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.job
    }

    /// Rows of a table that are about this job, piece by piece.
    async fn rows(
        &self,
        table: &str,
        what: &str,
        rest: &str,
        each: &mut dyn FnMut(&Columns<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let sql = format!("SELECT {what} FROM {table} WHERE job = {} {rest}", quoted(&self.job));
        let mut stream = self.session.sql(&sql).await?.execute_stream().await?;
        while let Some(batch) = stream.try_next().await? {
            let batch: RecordBatch = batch;
            each(&Columns::new(&batch), batch.num_rows())?;
        }
        Ok(())
    }
}

/// A session that knows every table of a store that can be read.
async fn session(store: &Store) -> Result<SessionContext> {
    let session = SessionContext::new_with_config(Store::settings());
    store.register(&session).await?;
    Ok(session)
}

/// A text as SQL writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
