//! From the spool into the tables: a sink of the daemon. Batches become rows at once and are seen by queries at once; now and then
//! they are committed, one commit a table.
//!
//! **Once.** With its rows a commit says how far in the spool they reach (Delta's application transaction: its id is the spool, its
//! version the position). After a crash the daemon gives batches again from its last mark; each table leaves out those that it has. So
//! it does not matter which of the tables were committed when the power went. Several hubs write the same tables, each under its own
//! spool's name.
//!
//! **Nothing is refused.** A batch that is not what its head says is counted and left out. Storage that can not be written stops
//! the sink, and the spool keeps what comes; a table that is damaged stops it for a minute, then the others go on without it.

mod aside;
mod ending;
pub(crate) mod errno;
mod event;
mod heard;
mod pending;
mod rollup;
mod sheets;
mod text;
pub(crate) mod user;
pub(crate) mod who;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use netra_stream::batch::{Batch, Images};
use netra_stream::sink::{Mark as Kept, Sink};
use netra_stream::told::Told;
use tokio::runtime::Handle as Runtime;

use crate::schema::TABLES;
use crate::table::Mark;
use crate::{Result, Store};
use aside::Aside;
use pending::Pending;

/// Rows that wait at most.
const FULL: usize = 1 << 19;

/// The sink that keeps everything in a store.
pub struct Ingest {
    store: Arc<Store>,
    runtime: Runtime,
    told: Arc<Told>,
    every: Duration,
    pending: Arc<Pending>,
    aside: Aside,
    spool: u64,
    position: i64,
}

impl std::fmt::Debug for Ingest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ingest {{ place: {}, spool: {} }}", self.store.place(), self.spool)
    }
}

impl Ingest {
    /// Puts batches into a store; `every` so often they are committed. Queries of this `store` see what waits.
    #[must_use]
    pub fn new(store: Arc<Store>, runtime: Runtime, told: Arc<Told>, every: Duration) -> Ingest {
        let pending = Arc::<Pending>::default();
        store.set_hot(Some(Arc::clone(&pending) as _));
        let aside = Aside::new();
        Ingest { store, runtime, told, every, pending, aside, spool: 0, position: 0 }
    }

    /// For a job whose log is imported when it has ended: what its processes leave then (themselves, files, counters, accounts) is
    /// shown while they run, and left to the import. Events, roll-ups, metrics and messages are committed as they come.
    #[must_use]
    pub fn before_log(self) -> Ingest {
        self.pending.expect_log();
        self
    }

    /// Under which name the spool's position stands in the tables.
    fn name(&self) -> String {
        format!("netra-spool-{:016x}", self.spool)
    }

    /// Waits no longer than this for a damaged table to be mended.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Ingest {
        self.aside.patience = patience;
        self
    }

    /// How far the tables are; one that was given up takes nothing.
    async fn past(&mut self) -> Result<BTreeMap<&'static str, i64>> {
        let name = self.name();
        let mut past = BTreeMap::new();
        for table in TABLES.iter().map(|table| table.name) {
            match self.store.mark(table, &name).await {
                Ok(position) => {
                    self.aside.works(table, &self.told);
                    past.extend(position.map(|position| (table, position)));
                }
                Err(error) if self.aside.gives_up(table, &error, &self.told) => {
                    past.insert(table, i64::MAX);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(past)
    }

    async fn land(&mut self) -> Result<()> {
        let mark = Mark { name: self.name(), position: self.position };
        let prepared = self.pending.prepare()?;
        let store = &self.store;
        let landing = prepared.iter().map(async |prepared| {
            let handle = store.handle(prepared.table.name)?;
            handle.land(&prepared.batches, prepared.is_sorted, &mark).await
        });
        // Each table on its own: one that fails keeps no other from its rows.
        let landed = join_all(landing).await;
        let mut failed = None;
        for (prepared, landed) in prepared.iter().zip(landed) {
            let table = prepared.table.name;
            match landed {
                Ok(_) => self.aside.works(table, &self.told),
                Err(error) if self.aside.gives_up(table, &error, &self.told) => {
                    self.pending.leave_out(table);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.pending.settle();
        for table in self.aside.due() {
            match self.store.mark(table, &mark.name).await {
                Ok(_) => {
                    self.aside.works(table, &self.told);
                    self.pending.take_up(table, mark.position);
                }
                Err(error) => {
                    self.aside.gives_up(table, &error, &self.told);
                }
            }
        }
        Ok(())
    }
}

impl Sink for Ingest {
    fn at(&mut self, spool: u64, position: u64) {
        self.spool = spool;
        // A spool of 2^63 bytes is nobody's.
        self.position = position.cast_signed();
    }

    fn pace(&self) -> Duration {
        self.every
    }

    fn is_full(&self) -> bool {
        self.pending.rows() >= FULL
    }

    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()> {
        Ok(self.pending.take(self.position, batch, images)?)
    }

    fn commit(&mut self) -> io::Result<Kept> {
        let odd = self.pending.take_odd();
        if odd > 0 {
            self.told.say(format_args!("{odd} batches are not what they say and are left out"));
        }
        let runtime = self.runtime.clone();
        runtime.block_on(self.land())?;
        Ok(self.position.to_le_bytes().to_vec())
    }

    fn resume(&mut self, _: &[u8]) -> io::Result<()> {
        // The tables know better than the mark how far they are.
        let runtime = self.runtime.clone();
        let past = runtime.block_on(self.past())?;
        self.pending.reset(past);
        Ok(())
    }
}

impl Drop for Ingest {
    fn drop(&mut self) {
        self.store.set_hot(None);
    }
}
