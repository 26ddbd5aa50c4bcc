//! A change of a table: new files, files that go, and how far somebody's work is in it, in one commit. Others may commit at the
//! same time; then it is tried again on top of theirs.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::ObjectStore as _;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake::kernel::{Action, Add, Transaction};
use deltalake::logstore::object_store::ObjectStoreExt as _;
use deltalake::logstore::object_store::{PutMode, PutOptions, PutPayload};
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{DeltaTable, DeltaTableError, ObjectStoreError};

use super::encode::encode;
use super::{Handle, Mark, add, fit, sorted, split};
use crate::calendar;
use crate::schema::DAY;
use crate::{Error, Result};

/// What a commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Rows come.
    Append,
    /// Rows come that were hot until now.
    Land,
    /// The same rows lie in other files.
    Compact,
    /// Rows go because they are old.
    Expire,
    /// Rows go because they are there twice, and sums of them become right.
    Repair,
}

impl Change {
    fn operation(self) -> DeltaOperation {
        match self {
            Change::Append | Change::Land => DeltaOperation::Write {
                mode: SaveMode::Append,
                partition_by: Some(vec![DAY.to_owned()]),
                predicate: None,
            },
            Change::Compact => DeltaOperation::Optimize { predicate: None, target_size: 0 },
            Change::Expire | Change::Repair => DeltaOperation::Delete { predicate: None },
        }
    }
}

/// How often a commit is tried when others commit at the same time.
const ATTEMPTS: u32 = 20;

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = netra_stream::clock::Clock::default().now();
    i64::try_from(now / 1_000_000).unwrap_or(i64::MAX)
}

impl Handle {
    /// Adds rows in a commit of its own; says how many, which is 0 if the mark says that they are there.
    pub(crate) async fn append(&self, batches: &[RecordBatch], mark: Option<&Mark>) -> Result<u64> {
        self.write(batches, false, mark, Change::Append).await
    }

    /// Adds the rows that were hot until now; `is_sorted` if they are in the table's order.
    pub(crate) async fn land(
        &self,
        batches: &[RecordBatch],
        is_sorted: bool,
        mark: &Mark,
    ) -> Result<u64> {
        self.write(batches, is_sorted, Some(mark), Change::Land).await
    }

    async fn write(
        &self,
        batches: &[RecordBatch],
        is_sorted: bool,
        mark: Option<&Mark>,
        change: Change,
    ) -> Result<u64> {
        let fitted: Result<Vec<RecordBatch>> =
            batches.iter().map(|batch| fit(self.table, batch)).collect();
        let days = match (is_sorted, fitted?) {
            (true, mut one) if one.len() == 1 => split(self.table, one.remove(0))?,
            (_, many) => sorted(self.table, &many)?,
        };
        if days.is_empty() {
            return Ok(0);
        }
        let _turn = self.turn.lock().await;
        self.open_for_change().await?;
        if self.has(mark).await? {
            self.publish(self.now(), change);
            return Ok(0);
        }
        let (mut adds, mut rows) = (Vec::new(), 0);
        for (day, batch) in days {
            rows += batch.num_rows() as u64;
            let table = self.table;
            let encoded = tokio::task::spawn_blocking(move || encode(table, &batch)).await;
            let (bytes, metadata) = encoded.map_err(|error| self.broken(&error))??;
            let length = bytes.len();
            let path = self.put(day, bytes).await?;
            adds.push(add(self.table, path, day, length, &metadata, now()));
        }
        // Somebody else may have brought them in meanwhile.
        Ok(if self.extend(adds, change, mark).await? { rows } else { 0 })
    }

    fn broken(&self, error: &dyn std::fmt::Display) -> Error {
        Error::Rows { table: self.table.name, why: error.to_string() }
    }

    /// Writes a new file; gives its path below the table.
    pub(crate) async fn put(&self, day: i32, bytes: Vec<u8>) -> Result<String> {
        let mut name = [0_u8; 16];
        getrandom::fill(&mut name).map_err(|error| self.broken(&error))?;
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("{DAY}={}/{name}.parquet", calendar::day(day));
        let place =
            path.split('/').fold(self.place.table(self.table.name), |at, name| at.join(name));
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        self.place.storage().put_opts(&place, PutPayload::from(bytes), options).await?;
        Ok(path)
    }

    /// Makes the newest version known, begun or widened where needed; the turn is ours.
    async fn open_for_change(&self) -> Result<()> {
        self.look_anew().await?;
        let delta = match self.now().delta {
            Some(delta) if self.is_wide(&delta)? => return Ok(()),
            Some(_) => self.widen().await?,
            None => self.begin().await?,
        };
        self.take(delta, Change::Append)
    }

    /// Looks for what is new; a table that somebody removed begins anew.
    pub(super) async fn look_anew(&self) -> Result<()> {
        match self.look().await {
            Err(Error::Gone { .. }) => Ok(()),
            looked => looked,
        }
    }

    /// The table as it is read, at the newest version that is known; the turn is ours.
    pub(super) async fn caught_up(&self) -> Result<Option<DeltaTable>> {
        let now = self.now();
        let (Some(mut delta), Some(version)) = (now.delta, now.version) else { return Ok(None) };
        if delta.version() < Some(version) {
            delta.load_version(version).await.map_err(Error::of(self.table.name))?;
            let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
            now.delta = Some(delta.clone());
        }
        Ok(Some(delta))
    }

    /// New files become part of the table, unless what they hold is in it by now, which the mark says; the turn is ours.
    ///
    /// Such an entry of the log depends on nothing but the version before it. When it gets the next number, it stands on exactly the
    /// version that is known here: nothing can conflict, and nothing need be read to know the next. (The ready-made commit lists
    /// the log three times and reads all of it.)
    async fn extend(&self, adds: Vec<Add>, change: Change, mark: Option<&Mark>) -> Result<bool> {
        let transaction = mark.map(|mark| Transaction::new(&mark.name, mark.position));
        let mut info = change.operation().get_commit_info();
        info.timestamp = Some(now());
        info.is_blind_append = Some(true);
        info.engine_info = Some(concat!("netra:", env!("CARGO_PKG_VERSION")).to_owned());
        let actions = std::iter::once(Action::CommitInfo(info))
            .chain(transaction.map(Action::Txn))
            .chain(adds.iter().cloned().map(Action::Add));
        let lines: std::result::Result<Vec<String>, _> =
            actions.map(|action| serde_json::to_string(&action)).collect();
        let entry = lines.map_err(|error| self.broken(&error))?.join("\n");
        let mut pause = Duration::from_millis(5);
        for attempt in 1.. {
            let next = self.now().version.map_or(0, |version| version + 1);
            if change == Change::Land {
                self.set_doubt(mark);
            }
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            let payload = PutPayload::from(entry.clone());
            let put = self.place.storage().put_opts(&self.entry(next), payload, options).await;
            match put {
                Ok(_) => {
                    self.advance(adds, mark, change);
                    return Ok(true);
                }
                // Somebody else has this number.
                Err(ObjectStoreError::AlreadyExists { .. }) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
            self.open_for_change().await?;
            if self.has(mark).await? {
                self.publish(self.now(), change);
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Takes files out and puts others in; if somebody took them first, they win, and it is an error.
    ///
    /// The ready-made check of conflicts lets two commits take the same file out when its rows lie elsewhere afterwards, and they would
    /// be there twice. So a commit stands on the newest version, which has all files that go, or is tried again on the next.
    pub(crate) async fn exchange(&self, actions: Vec<Action>, change: Change) -> Result<()> {
        let _turn = self.turn.lock().await;
        let gone = || Error::Gone { table: self.table.name, place: self.place.to_string() };
        let of = || Error::of(self.table.name);
        for _ in 0..ATTEMPTS {
            self.look().await?;
            let mut delta = self.caught_up().await?.ok_or_else(gone)?;
            if !self.holds(&actions) {
                break;
            }
            // What is not needed for the commit itself is done later: its failure would look like the commit's.
            let properties = CommitProperties::default()
                .with_max_retries(0)
                .with_create_checkpoint(false)
                .with_cleanup_expired_logs(Some(false));
            let committed = CommitBuilder::from(properties)
                .with_actions(actions.clone())
                .build(Some(delta.snapshot().map_err(of())?), self.log.clone(), change.operation())
                .await;
            match committed {
                Ok(committed) => {
                    delta.load_version(committed.version()).await.map_err(of())?;
                    return self.take(delta, change);
                }
                Err(DeltaTableError::Transaction {
                    source:
                        TransactionError::MaxCommitAttempts(_)
                        | TransactionError::VersionAlreadyExists(_),
                }) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => return Err(of()(error)),
            }
        }
        Err(Error::Overtaken { table: self.table.name })
    }

    /// Whether all files that go are part of the newest known version.
    fn holds(&self, actions: &[Action]) -> bool {
        let now = self.now();
        let there: HashSet<&str> = now.parts.iter().map(|part| part.path.as_str()).collect();
        actions.iter().all(|action| match action {
            Action::Remove(file) => there.contains(file.path.as_str()),
            _ => true,
        })
    }

    /// Sums the log up if `every` so many commits were made since it was summed up; says whether that was due.
    pub(crate) async fn checkpoint(&self, every: u64) -> Result<bool> {
        let _turn = self.turn.lock().await;
        self.look().await?;
        let Some(version) = self.now().version else { return Ok(false) };
        let mut last = self.summed.lock().await;
        let known = match *last {
            Some(known) => known,
            None => self.last_checkpoint().await,
        };
        *last = Some(known);
        if version < known.saturating_add(every) {
            return Ok(false);
        }
        let of = || Error::of(self.table.name);
        let Some(delta) = self.caught_up().await? else { return Ok(false) };
        deltalake::checkpoints::create_checkpoint(&delta, None).await.map_err(of())?;
        deltalake::checkpoints::cleanup_metadata(&delta, None).await.map_err(of())?;
        *last = Some(version);
        // The version before is gone from the log, and what it held grows with every commit: it is read anew.
        self.set(super::Now::default());
        Ok(true)
    }

    /// The version that the log was summed up at last; 0 if it never was.
    async fn last_checkpoint(&self) -> u64 {
        let place = self.place.table(self.table.name).join("_delta_log").join("_last_checkpoint");
        let Ok(found) = self.place.storage().get(&place).await else { return 0 };
        let Ok(bytes) = found.bytes().await else { return 0 };
        let told: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        told.get("version").and_then(serde_json::Value::as_u64).unwrap_or(0)
    }
}
