//! From the spool into the tables: a sink of the daemon. Batches become rows at once and are seen by queries at once; now and then
//! they are committed, one commit a table.
//!
//! **Once.** With its rows a commit says how far in the spool they reach (Delta's application transaction: its id is the spool, its
//! version the position). After a crash the daemon gives batches again from its last mark; each table leaves out those that it has. So
//! it does not matter which of the tables were committed when the power went. Several hubs write the same tables, each under its own
//! spool's name.
//!
//! **Nothing is refused.** A batch that is not what its head says is counted and left out. Storage that can not be written stops
//! the sink, and the spool keeps what comes; a table that is damaged stops it for a minute, then the others go on, and what comes for
//! this one is set aside (`crate::aside`).

mod apart;
mod ending;
pub(crate) mod errno;
mod event;
mod heard;
mod patience;
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

use crate::schema::{self, TABLES};
use crate::table::Mark;
use crate::{Aside, Result, Store};
use patience::Patience;
use pending::Pending;

/// Rows that wait at most.
const FULL: usize = 1 << 18;

/// The sink that keeps everything in a store.
pub struct Ingest {
    store: Arc<Store>,
    runtime: Runtime,
    told: Arc<Told>,
    every: Duration,
    pending: Arc<Pending>,
    patience: Patience,
    /// Rows that were set aside, by table.
    waiting: BTreeMap<&'static str, u64>,
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
        let (patience, waiting) = (Patience::new(), BTreeMap::new());
        Ingest { store, runtime, told, every, pending, patience, waiting, spool: 0, position: 0 }
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
        self.patience.limit = patience;
        self
    }

    /// How far the tables are, and those that can not be written.
    async fn past(&mut self) -> Result<(BTreeMap<&'static str, i64>, Vec<&'static str>)> {
        let all = self.store.aside().await?;
        let (mut past, mut unwritable) = (BTreeMap::new(), Vec::new());
        for table in TABLES.iter().map(|table| table.name) {
            let name = self.name();
            let ours = all.iter().filter(|aside| aside.table == table && aside.writer == name);
            let ours: Vec<Aside> = ours.cloned().collect();
            self.count(table, ours.iter().map(|aside| aside.rows).sum());
            let position = match self.take_up(table, &ours).await {
                Ok(position) => position,
                Err(error) if self.patience.gives_up(table, &error, &self.told) => {
                    unwritable.push(table);
                    ours.last().map(|aside| aside.position)
                }
                Err(error) => return Err(error),
            };
            past.extend(position.map(|position| (table, position)));
        }
        Ok((past, unwritable))
    }

    /// Brings what was set aside for a table into it; says how far it is then.
    async fn take_up(&mut self, table: &'static str, waiting: &[Aside]) -> Result<Option<i64>> {
        let restored = self.store.restore(waiting).await?;
        let position = self.store.mark(table, &self.name()).await?;
        self.patience.works(table);
        self.count(table, 0);
        if restored > 0 {
            self.told.say(format_args!("{table}: {restored} rows that were set aside are in it"));
        }
        Ok(position)
    }

    /// So many rows of a table wait.
    fn count(&mut self, table: &'static str, rows: u64) {
        let before = self.waiting.insert(table, rows);
        if before.unwrap_or(0) != rows {
            let metric = format!("netra_store_rows_aside{{table=\"{table}\"}}");
            self.told.set(&metric, i64::try_from(rows).unwrap_or(i64::MAX));
        }
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
                Ok(_) => self.patience.works(table),
                Err(error) if self.patience.gives_up(table, &error, &self.told) => {
                    self.pending.set_apart(table)?;
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.set_aside(&mark).await?;
        self.pending.settle();
        for table in self.patience.due() {
            self.look_again(table, &mark).await?;
        }
        Ok(())
    }

    /// Keeps what came for tables that can not be written.
    async fn set_aside(&mut self, mark: &Mark) -> Result<()> {
        for (name, rows) in self.pending.take_apart() {
            let Some(table) = schema::table(name) else { continue };
            let more = self.store.set_aside(table, &rows, mark).await?;
            self.count(name, self.waiting.get(name).copied().unwrap_or(0) + more);
        }
        Ok(())
    }

    /// Whether a table can be written again; everything up to the mark is in it then.
    async fn look_again(&mut self, table: &'static str, mark: &Mark) -> Result<()> {
        let waiting = self.store.aside().await?.into_iter();
        let ours = waiting.filter(|aside| aside.table == table && aside.writer == mark.name);
        match self.take_up(table, &ours.collect::<Vec<_>>()).await {
            Ok(_) => self.pending.take_up(table, mark.position),
            Err(error) if self.patience.gives_up(table, &error, &self.told) => {}
            Err(error) => return Err(error),
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
        let (past, unwritable) = runtime.block_on(self.past())?;
        self.pending.reset(past, unwritable);
        Ok(())
    }
}

impl Drop for Ingest {
    fn drop(&mut self) {
        self.store.set_hot(None);
    }
}
