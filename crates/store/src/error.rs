//! What can go wrong with a store, and where.

use std::io;
use std::path::PathBuf;

use datafusion::error::DataFusionError;
use deltalake::DeltaTableError;
use deltalake::ObjectStoreError;
use deltalake::arrow::error::ArrowError;
use deltalake::parquet::errors::ParquetError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Somebody else imports into the same store.
    #[error("another import writes to this store (it holds {}); try again when it has ended", path.display())]
    Busy {
        /// The file that says so.
        path: PathBuf,
    },
    /// A log of a job can not be written.
    #[error("writing a log of job {job}: {source}")]
    Log {
        /// The job.
        job: String,
        /// What is wrong.
        source: netra_darshan::Error,
    },
    /// No job is called so.
    #[error(
        "no stored job is called {word}, begins with it, or has that number; netra jobs lists them"
    )]
    NoJob {
        /// What was typed.
        word: String,
    },
    /// Several jobs could be meant.
    #[error("{word} could be any of {}; name one of them", jobs.join(", "))]
    SeveralJobs {
        /// What was typed.
        word: String,
        /// The jobs.
        jobs: Vec<String>,
    },
    /// The system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text names no place of a store.
    #[error("{text} is no place of a store: {why}")]
    Place {
        /// What was given.
        text: String,
        /// Why it is none.
        why: String,
    },
    /// There is no store.
    #[error(
        "there is no store at {place}; netra run --live, netra import or a daemon with a store sink makes one"
    )]
    Missing {
        /// Where.
        place: String,
    },
    /// There is no such table.
    #[error("no table is called {name}")]
    NoTable {
        /// Its name.
        name: String,
    },
    /// A table that should be there is not.
    #[error("the table {table} is gone from {place}")]
    Gone {
        /// Its name.
        table: &'static str,
        /// Where it should be.
        place: String,
    },
    /// Others put the same files together, or let them expire, at the same time.
    #[error("somebody else changed files of the table {table} first; nothing was changed here")]
    Overtaken {
        /// Its name.
        table: &'static str,
    },
    /// The table was written by a newer netra.
    #[error(
        "the table {table} has schema version {found}; this netra knows up to {known}: ask with a newer one"
    )]
    TooNew {
        /// Its name.
        table: &'static str,
        /// The version it says.
        found: String,
        /// The version we know.
        known: u32,
    },
    /// What lies there is no table of ours.
    #[error("the table {table} at {place} is not netra's: {why}")]
    Foreign {
        /// Its name.
        table: &'static str,
        /// Where.
        place: String,
        /// What is different.
        why: String,
    },
    /// Rows do not fit the table.
    #[error("rows for {table}: {why}")]
    Rows {
        /// Its name.
        table: &'static str,
        /// What does not fit.
        why: String,
    },
    /// The table's log or its files can not be read or written.
    #[error("the table {table}: {source}")]
    Table {
        /// Its name.
        table: &'static str,
        /// What went wrong.
        source: Box<DeltaTableError>,
    },
    /// A file of a table is not what was written.
    #[error("{path} of the table {table} is damaged: {source}")]
    Damaged {
        /// The table.
        table: &'static str,
        /// The file.
        path: String,
        /// What is wrong.
        source: ParquetError,
    },
    /// The storage refused.
    #[error(transparent)]
    Storage(#[from] ObjectStoreError),
    /// Rows can not be computed.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// Rows can not be encoded.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// A question can not be answered.
    #[error(transparent)]
    Query(#[from] DataFusionError),
}

/// What a function gives that may go wrong.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Says of which job a log can not be written.
    pub(crate) fn of_log(job: &str) -> impl FnOnce(netra_darshan::Error) -> Error {
        let job = job.to_owned();
        move |source| Error::Log { job, source }
    }

    /// Says which file an error of the system is about.
    pub(crate) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { action, path, source }
    }

    /// Whether a table's own log, or what was set aside for it, is not what it should be. Storage that is full, away or broken is no such damage: all
    /// tables share it.
    pub(crate) fn is_damage(&self) -> bool {
        let of_one = matches!(
            self,
            Error::Table { .. }
                | Error::Foreign { .. }
                | Error::TooNew { .. }
                | Error::Gone { .. }
                | Error::Damaged { .. }
        );
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.is::<ObjectStoreError>() || error.is::<io::Error>() {
                return false;
            }
            cause = error.source();
        }
        of_one
    }

    /// Says which table an error is about.
    pub(crate) fn of(table: &'static str) -> impl FnOnce(DeltaTableError) -> Error {
        move |source| Error::Table { table, source: Box::new(source) }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => source,
            other => io::Error::other(other.to_string()),
        }
    }
}
