//! A table of the store: its log and its files in the Delta Lake format, and the rows that are in neither yet.
//!
//! Whoever changes the log or reads it anew takes turns, and a version and the rows that are not in it change together:
//! a query sees every row once.

mod commit;
mod create;
mod encode;
mod listed;
mod mark;
mod pack;
mod part;
mod rows;
mod scan;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::kernel::Add;
use deltalake::logstore::LogStoreRef;
use deltalake::logstore::object_store::ObjectStoreExt as _;
use deltalake::{DeltaTable, DeltaTableError, ObjectMeta, ObjectStoreError};

use crate::place::Place;
use crate::schema::Table;
use crate::{Error, Result};

pub(crate) use commit::{Change, now};
pub(crate) use encode::Encoder;
#[cfg(test)]
pub(crate) use encode::{encode, tests::made_up};
pub use mark::Mark;
pub(crate) use part::{Part, add};
pub(crate) use rows::{asked, fit, plain, sorted, split};
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
    /// The commit of hot rows of which nobody knows whether it is in the log.
    doubt: std::sync::Mutex<Option<Mark>>,
    hot: RwLock<Option<Arc<dyn Hot>>>,
}

/// The newest version that is known.
#[derive(Clone, Default)]
struct Now {
    /// The table as it was read; behind `version` by the entries that were written here since.
    delta: Option<DeltaTable>,
    version: Option<u64>,
    parts: Arc<Vec<Arc<Part>>>,
    /// How far work is that somebody has asked for or that was written here.
    marks: Arc<BTreeMap<String, i64>>,
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
            doubt: std::sync::Mutex::default(),
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
        let version = now.version.unwrap_or(0);
        let (place, parts) = (Arc::clone(&self.place), Arc::clone(&now.parts));
        Ok(Scan { table: self.table, place, version, parts, hot })
    }

    /// The files of the newest version.
    pub(crate) async fn parts(&self) -> Result<Arc<Vec<Arc<Part>>>> {
        let _turn = self.turn.lock().await;
        self.look().await?;
        Ok(self.now().parts)
    }

    /// Looks for what is new in the log, and reads it; the turn is ours.
    async fn look(&self) -> Result<()> {
        if let Some(version) = self.now().version
            && self.head(version).await.is_ok()
            && matches!(self.head(version + 1).await, Err(ObjectStoreError::NotFound { .. }))
        {
            // Entries go, the oldest first, once they are summed up: the next one can not be gone while this one is there.
            let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
            now.looked = Some(Instant::now());
            return Ok(());
        }
        self.read().await
    }

    /// Reads what is new in the log; the turn is ours.
    async fn read(&self) -> Result<()> {
        let known = self.now();
        let fresh = known.version.is_none();
        let mut delta = known.delta.unwrap_or_else(|| DeltaTable::new(self.log.clone()));
        let mut updated = delta.update_state().await;
        // Asked once: somebody may begin the table at this very moment.
        let mut gone = updated.is_err() && self.is_gone().await;
        if fresh && updated.is_err() && !gone {
            delta = DeltaTable::new(self.log.clone());
            updated = delta.update_state().await;
        }
        if let (Ok(()), Some(version)) = (&updated, known.version)
            && delta.version() <= Some(version)
            && self.lacks(version).await
        {
            // A log that has nothing new may be one that is not there any more.
            updated = Err(DeltaTableError::NotATable(self.table.name.to_owned()));
            gone = true;
        }
        if let Err(error) = updated {
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
        let change = match self.is_settled(&delta).await? {
            true => Change::Land,
            false => Change::Append,
        };
        self.take(delta, change)
    }

    /// Where the log keeps a version.
    fn entry(&self, version: u64) -> deltalake::Path {
        let log = self.place.table(self.table.name).join("_delta_log");
        log.join(format!("{version:020}.json"))
    }

    /// What the storage says of a version's entry.
    async fn head(&self, version: u64) -> std::result::Result<ObjectMeta, ObjectStoreError> {
        self.place.storage().head(&self.entry(version)).await
    }

    /// Whether the log entry of a version is missing; entries that were summed up may be.
    async fn lacks(&self, version: u64) -> bool {
        self.head(version).await.is_err() && self.is_gone().await
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
        let version = delta.version();
        let marks = match version == self.now().version {
            true => self.now().marks,
            false => Arc::default(),
        };
        self.publish(
            Now { delta: Some(delta), version, parts: in_order(parts), marks, looked: None },
            change,
        );
        Ok(())
    }

    /// Makes the version behind the newest known one, which was written here, the newest.
    fn advance(&self, adds: Vec<Add>, mark: Option<&Mark>, change: Change) {
        let now = self.now();
        let mut parts = now.parts.to_vec();
        parts.extend(adds.into_iter().map(|add| Arc::new(Part::new(self.table, add))));
        let mut marks = now.marks;
        if let Some(mark) = mark {
            Arc::make_mut(&mut marks).insert(mark.name.clone(), mark.position);
        }
        let version = now.version.map(|version| version + 1);
        self.publish(Now { version, parts: in_order(parts), marks, ..now }, change);
    }

    /// What was hot is in a file with the version that has it, or is not: nobody sees it twice.
    fn publish(&self, fresh: Now, change: Change) {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        *now = Now { looked: Some(Instant::now()), ..fresh };
        if change == Change::Land {
            *self.doubt.lock().unwrap_or_else(PoisonError::into_inner) = None;
            if let Some(hot) = &*self.hot.read().unwrap_or_else(PoisonError::into_inner) {
                hot.landed(self.table);
            }
        }
    }
}

/// The oldest first, whatever order the log gives them in.
fn in_order(mut parts: Vec<Arc<Part>>) -> Arc<Vec<Arc<Part>>> {
    parts.sort_by(|a, b| (a.day, a.written, &a.path).cmp(&(b.day, b.written, &b.path)));
    Arc::new(parts)
}
