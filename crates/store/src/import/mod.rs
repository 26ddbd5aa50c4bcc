//! Logs, segments and files of the connector become rows of the same tables, each once however often
//! it is offered.
//!
//! Sources are read in parallel and committed in groups: `processes` first, `imports` last. A source that
//! stands in `imports` is known. One that stands in `processes` alone was being imported when its importer
//! died; each table then has all of its rows or none, and gets what it lacks. Traces too large for one
//! group go ahead of it in numbered pieces, which a table takes once.

mod commit;
pub mod connector;
mod files;
mod find;
mod identity;
mod log;
pub(crate) mod record;
mod rollup;
mod row;
mod section;
mod segment;
mod sent;
mod source;
mod streamed;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt as _;

use crate::{Result, Store};
use commit::Committer;

pub(crate) use commit::LOCK;
pub use find::find;
pub use identity::Identity;
pub use source::Source;

/// What became of one source.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fate {
    /// It is in the store now.
    Taken {
        /// The jobs that it holds.
        jobs: Vec<String>,
        /// Its rows in all tables.
        rows: u64,
        /// What is missing from it.
        missing: Vec<String>,
    },
    /// It was there already.
    Known {
        /// The job, where it is one.
        job: Option<String>,
    },
    /// It can not be imported, and why.
    Refused {
        /// The reason, with its causes.
        why: String,
    },
}

/// How far an import is: bytes of sources that were read.
#[derive(Debug, Default)]
pub struct Read(AtomicU64);

impl Read {
    /// Bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Sources that are read at the same time, for each processor.
const AHEAD: usize = 1;

/// Imports everything; `each` hears what became of each source, in the order in which that is known.
///
/// # Errors
/// The store can not be written, or somebody else is importing into it.
pub async fn import(
    store: &Arc<Store>,
    sources: Vec<Source>,
    read: &Arc<Read>,
    each: &mut dyn FnMut(&Source, Fate),
) -> Result<()> {
    let _alone = commit::alone(store)?;
    let mut committer = Committer::new(store).await?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let known = committer.known();
    let runtime = tokio::runtime::Handle::current();
    let mut reading = futures::stream::iter(sources)
        .map(|source| {
            let (known, read) = (Arc::clone(&known), Arc::clone(read));
            let large = source::Large { store: Arc::clone(store), runtime: runtime.clone() };
            tokio::task::spawn_blocking(move || {
                let found = source.read(&known, &large);
                read.add(source.bytes());
                (source, found)
            })
        })
        .buffered(threads * AHEAD);
    while let Some(done) = reading.next().await {
        // A reader that panicked is a fault of ours, and said as such.
        let (source, found) = done.map_err(|error| crate::Error::Rows {
            table: "imports",
            why: format!("a reader failed: {error}"),
        })?;
        committer.take(source, found, each).await?;
    }
    committer.finish(each).await
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What several files say of one path: used by tests and by whoever lists sources.
impl Source {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.paths().first().cloned().unwrap_or_default()
    }
}
