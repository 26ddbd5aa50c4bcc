//! How far somebody's work is in a table: what keeps rows from being there twice. A mark stands in the log beside the rows it
//! speaks of (Delta's application transaction). What was written here or asked before is remembered, since reading it means going through the log.

use std::sync::{Arc, PoisonError};

use deltalake::DeltaTable;

use super::Handle;
use crate::{Error, Result};

/// How far somebody's work is in a table. What has the same name and no larger number is in it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whose work: no two that write at the same time have the same.
    pub name: String,
    /// How far; only ever grows.
    pub position: i64,
}

impl Handle {
    /// How far somebody's work is in the table. A table that is gone has nobody's.
    pub(crate) async fn mark(&self, name: &str) -> Result<Option<i64>> {
        let _turn = self.turn.lock().await;
        self.look_anew().await?;
        // Whoever asks begins from what it says.
        self.set_doubt(None);
        self.position(name).await
    }

    /// Whether work up to a mark is in the table; the turn is ours, and the newest version is known.
    pub(super) async fn has(&self, mark: Option<&Mark>) -> Result<bool> {
        match mark {
            Some(mark) => Ok(self.position(&mark.name).await? >= Some(mark.position)),
            None => Ok(false),
        }
    }

    async fn position(&self, name: &str) -> Result<Option<i64>> {
        if let Some(&known) = self.now().marks.get(name) {
            return Ok(Some(known));
        }
        let Some(delta) = self.caught_up().await? else { return Ok(None) };
        let found = self.read_position(&delta, name).await?;
        if let Some(found) = found {
            let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut now.marks).insert(name.to_owned(), found);
        }
        Ok(found)
    }

    async fn read_position(&self, delta: &DeltaTable, name: &str) -> Result<Option<i64>> {
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let found = state.transaction_version(&*self.log, name).await;
        found.map_err(Error::of(self.table.name))
    }

    /// Says that hot rows are about to be in the log; if that fails, nobody knows whether they are.
    pub(super) fn set_doubt(&self, mark: Option<&Mark>) {
        *self.doubt.lock().unwrap_or_else(PoisonError::into_inner) = mark.cloned();
    }

    /// Whether a version has the hot rows of which nobody knew.
    pub(super) async fn is_settled(&self, delta: &DeltaTable) -> Result<bool> {
        let doubt = self.doubt.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(mark) = doubt else { return Ok(false) };
        Ok(self.read_position(delta, &mark.name).await? >= Some(mark.position))
    }
}
