//! A table of the store: its log and its files in the Delta Lake format, and the rows that are in neither yet.
//!
//! Whoever changes the log or reads it anew takes turns, and a version and the rows that are not in it change together:
//! a query sees every row once.

mod commit;
mod create;
mod encode;
mod part;
mod rows;
mod scan;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::logstore::LogStoreRef;
use deltalake::logstore::object_store::ObjectStoreExt as _;
use deltalake::{DeltaTable, DeltaTableError};

use crate::place::Place;
use crate::schema::Table;
use crate::{Error, Result};

pub use commit::Mark;
pub(crate) use commit::{Change, now};
pub(crate) use encode::Encoder;
pub(crate) use part::{Part, add};
pub(crate) use rows::{asked, fit, sorted, split};
pub use scan::Scan;

/// How old a version may be before a query looks for a newer one.
const FRESH: Duration = Duration::from_millis(500);

/// Rows that are in no file yet.
pub(crate) trait Hot: Send + Sync {
    /// The rows of a table, as they are asked.
    fn rows(&self, table: &'static Table) -> Result<Vec<RecordBatch>>;

    /// The rows of a table are in a file from now on.
    fn landed(&self, table: &'static Table);
}

/// A table of the store.
pub(crate) struct Handle {
    pub(crate) table: &'static Table,
    place: Arc<Place>,
    log: LogStoreRef,
    /// Held while the log is changed or read anew.
    turn: tokio::sync::Mutex<()>,
    /// The version at which the log was summed up last, if that is known.
    summed: tokio::sync::Mutex<Option<u64>>,
    now: RwLock<Now>,
    hot: RwLock<Option<Arc<dyn Hot>>>,
}

/// The newest version that is known.
#[derive(Clone, Default)]
struct Now {
    delta: Option<DeltaTable>,
    parts: Arc<Vec<Arc<Part>>>,
    looked: Option<Instant>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle {{ table: {:?}, place: {} }}", self.table.name, self.place)
    }
}

impl Handle {
    pub(crate) fn new(table: &'static Table, place: &Arc<Place>) -> Result<Handle> {
        Ok(Handle {
            table,
            place: Arc::clone(place),
            log: place.log_store(table.name)?,
            turn: tokio::sync::Mutex::new(()),
            summed: tokio::sync::Mutex::new(None),
            now: RwLock::default(),
            hot: RwLock::new(None),
        })
    }

    fn now(&self) -> Now {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whose rows are in no file yet.
    pub(crate) fn set_hot(&self, hot: Option<Arc<dyn Hot>>) {
        *self.hot.write().unwrap_or_else(PoisonError::into_inner) = hot;
    }

    /// One version of the table and the rows that are not in it.
    pub(crate) async fn scan(&self) -> Result<Scan> {
        let known = self.now();
        if known.looked.is_none_or(|looked| looked.elapsed() > FRESH) {
            // While somebody commits, the last version is as good as any.
            let turn = match known.looked {
                None => Some(self.turn.lock().await),
                Some(_) => self.turn.try_lock().ok(),
            };
            if turn.is_some() {
                self.look().await?;
            }
        }
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        let hot = self.hot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let hot = match hot {
            Some(hot) => hot.rows(self.table)?,
            None => Vec::new(),
        };
        let version = now.delta.as_ref().and_then(DeltaTable::version).unwrap_or(0);
        let (place, parts) = (Arc::clone(&self.place), Arc::clone(&now.parts));
        Ok(Scan { table: self.table, place, version, parts, hot })
    }

    /// The files of the newest version.
    pub(crate) async fn parts(&self) -> Result<Arc<Vec<Arc<Part>>>> {
        let _turn = self.turn.lock().await;
        self.look().await?;
        Ok(self.now().parts)
    }

    /// Reads what is new in the log; the turn is ours.
    async fn look(&self) -> Result<()> {
        let mut delta = self.now().delta.unwrap_or_else(|| DeltaTable::new(self.log.clone()));
        let (known, fresh) = (delta.version(), delta.version().is_none());
        let updated = match delta.update_state().await {
            // A log that has nothing new may be one that is not there any more.
            Ok(()) if !fresh && delta.version() == known && self.lacks(known).await => {
                Err(DeltaTableError::NotATable(self.table.name.to_owned()))
            }
            updated => updated,
        };
        if let Err(error) = updated {
            let gone = self.is_gone().await;
            // Whatever is wrong, what was known of it is not true any more.
            let looked = (fresh && gone).then(Instant::now);
            self.set(Now { looked, ..Now::default() });
            return match (gone, fresh) {
                // It has not begun yet.
                (true, true) => Ok(()),
                (true, false) => {
                    Err(Error::Gone { table: self.table.name, place: self.place.to_string() })
                }
                (false, _) => Err(Error::of(self.table.name)(error)),
            };
        }
        self.check(&delta)?;
        self.take(delta, Change::Append)
    }

    /// Whether the log entry of a version is missing; entries that were summed up may be.
    async fn lacks(&self, version: Option<u64>) -> bool {
        let log = self.place.table(self.table.name).join("_delta_log");
        let entry = log.join(format!("{:020}.json", version.unwrap_or(0)));
        self.place.storage().head(&entry).await.is_err() && self.is_gone().await
    }

    /// Whether nothing is left of a table that was there.
    async fn is_gone(&self) -> bool {
        matches!(self.log.is_delta_table_location().await, Ok(false))
    }

    fn set(&self, now: Now) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Makes a version the newest that is known, after this change.
    fn take(&self, delta: DeltaTable, change: Change) -> Result<()> {
        let before = self.now().parts;
        let known: std::collections::HashMap<&str, &Arc<Part>> =
            before.iter().map(|part| (part.path.as_str(), part)).collect();
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let mut parts = Vec::new();
        for view in state.log_data().iter() {
            parts.push(match known.get(&*view.path()) {
                Some(part) => Arc::clone(part),
                None => Arc::new(Part::of(self.table, &view)),
            });
        }
        // The oldest first, whatever order the log gives them in.
        parts.sort_by(|a, b| (a.day, a.written, &a.path).cmp(&(b.day, b.written, &b.path)));
        let fresh =
            Now { delta: Some(delta), parts: Arc::new(parts), looked: Some(Instant::now()) };
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        *now = fresh;
        if change == Change::Land
            && let Some(hot) = &*self.hot.read().unwrap_or_else(PoisonError::into_inner)
        {
            hot.landed(self.table);
        }
        Ok(())
    }
}
