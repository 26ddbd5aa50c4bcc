//! A change of a table: new files, files that go, and how far somebody's work is in it, in one commit. Others may commit at the
//! same time; then it is tried again on top of theirs.

use std::time::Duration;

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::ObjectStore as _;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties};
use deltalake::kernel::{Action, Transaction};
use deltalake::logstore::object_store::{PutMode, PutOptions, PutPayload};
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{DeltaTable, DeltaTableError};

use super::encode::encode;
use super::{Handle, add, fit, sorted, split};
use crate::calendar;
use crate::schema::DAY;
use crate::{Error, Result};

/// How far somebody's work is in a table. What has the same name and no larger number is in it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whose work: no two that write at the same time have the same.
    pub name: String,
    /// How far; only ever grows.
    pub position: i64,
}

/// What a commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Rows come.
    Append,
    /// The same rows lie in other files.
    Compact,
    /// Rows go because they are old.
    Expire,
}

impl Change {
    fn operation(self) -> DeltaOperation {
        match self {
            Change::Append => DeltaOperation::Write {
                mode: SaveMode::Append,
                partition_by: Some(vec![DAY.to_owned()]),
                predicate: None,
            },
            Change::Compact => DeltaOperation::Optimize { predicate: None, target_size: 0 },
            Change::Expire => DeltaOperation::Delete { predicate: None },
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
    /// `is_sorted` if they are fitted and in the table's order.
    pub(crate) async fn append(
        &self,
        batches: &[RecordBatch],
        is_sorted: bool,
        mark: Option<&Mark>,
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
        let delta = self.open_for_change().await?;
        if let Some(mark) = mark
            && self.position(&delta, &mark.name).await? >= Some(mark.position)
        {
            self.take_landed(delta, true)?;
            return Ok(0);
        }
        let (mut actions, mut rows) = (Vec::new(), 0);
        for (day, batch) in days {
            rows += batch.num_rows() as u64;
            let table = self.table;
            let encoded = tokio::task::spawn_blocking(move || encode(table, &[batch])).await;
            let (bytes, metadata) = encoded.map_err(|error| self.broken(&error))??;
            let path = self.put(day, bytes.clone()).await?;
            actions.push(Action::Add(add(self.table, path, day, bytes.len(), &metadata, now())));
        }
        self.change(delta, actions, Change::Append, mark).await?;
        Ok(rows)
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
        let place = path.split('/').fold(self.place.table(self.table.name), |at, name| at.join(name));
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        self.place.storage().put_opts(&place, PutPayload::from(bytes), options).await?;
        Ok(path)
    }

    /// The newest version, begun or widened where needed; the turn is ours.
    pub(crate) async fn open_for_change(&self) -> Result<DeltaTable> {
        match self.look().await {
            // Somebody removed it under us: it begins anew.
            Err(Error::Gone { .. }) | Ok(()) => {}
            Err(error) => return Err(error),
        }
        match self.now().delta {
            Some(delta) => self.widen(delta).await,
            None => self.begin().await,
        }
    }

    /// How far somebody's work is in the table.
    pub(crate) async fn mark(&self, name: &str) -> Result<Option<i64>> {
        let _turn = self.turn.lock().await;
        self.look().await?;
        match self.now().delta {
            Some(delta) => self.position(&delta, name).await,
            None => Ok(None),
        }
    }

    async fn position(&self, delta: &DeltaTable, name: &str) -> Result<Option<i64>> {
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let found = state.transaction_version(&*self.log, name).await;
        found.map_err(Error::of(self.table.name))
    }

    /// Commits; the turn is ours. With files that go, somebody who took them first wins, and it is an error.
    pub(crate) async fn change(
        &self,
        mut delta: DeltaTable,
        actions: Vec<Action>,
        change: Change,
        mark: Option<&Mark>,
    ) -> Result<()> {
        let mut pause = Duration::from_millis(5);
        for attempt in 1.. {
            let transaction = mark.map(|mark| Transaction::new(&mark.name, mark.position));
            // What is not needed for the commit itself is done later: its failure would look like the commit's.
            let properties = CommitProperties::default()
                .with_application_transactions(transaction.into_iter().collect())
                .with_create_checkpoint(false)
                .with_cleanup_expired_logs(Some(false));
            let state = delta.snapshot().map_err(Error::of(self.table.name))?;
            let committed = CommitBuilder::from(properties)
                .with_actions(actions.clone())
                .build(Some(state), self.log.clone(), change.operation())
                .await;
            let error = match committed {
                Ok(done) => {
                    delta.load_version(done.version()).await.map_err(Error::of(self.table.name))?;
                    return self.take_landed(delta, change == Change::Append);
                }
                Err(error) => error,
            };
            let others = matches!(
                error,
                DeltaTableError::Transaction { .. } | DeltaTableError::VersionAlreadyExists(_)
            );
            if change != Change::Append || !others || attempt >= ATTEMPTS {
                return Err(Error::of(self.table.name)(error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
            delta.update_state().await.map_err(Error::of(self.table.name))?;
            if let Some(mark) = mark
                && self.position(&delta, &mark.name).await? >= Some(mark.position)
            {
                return self.take_landed(delta, true);
            }
        }
        Ok(())
    }
}
