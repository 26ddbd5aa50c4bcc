//! Files that no version has any more go, and so does what a crash has left half written. The log is summed up now and then.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use deltalake::logstore::object_store::Error as Storage;
use deltalake::logstore::object_store::ObjectStoreExt as _;
use futures::TryStreamExt as _;

use crate::aside;
use crate::table::now;
use crate::{Error, Result, Store};

impl Store {
    /// Removes files of a table that its newest version does not have and that are older than `linger`; says how many.
    ///
    /// # Errors
    /// The table can not be read, or a file not be removed.
    pub async fn clean(&self, table: &str, linger: Duration) -> Result<usize> {
        let handle = self.handle(table)?;
        let parts = handle.parts().await?;
        let known: HashSet<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        let place = self.place().table(handle.table.name);
        let linger_ms = i64::try_from(linger.as_millis()).unwrap_or(i64::MAX);
        let cut = now().saturating_sub(linger_ms);
        let found: Vec<_> = self.place().storage().list(Some(&place)).try_collect().await?;
        let mut removed = 0;
        for file in found {
            let Some(path) = file.location.as_ref().strip_prefix(place.as_ref()) else { continue };
            let path = path.trim_start_matches('/');
            let ours = path.starts_with("day=") && path.ends_with(".parquet");
            if ours && !known.contains(path) && file.last_modified.timestamp_millis() < cut {
                match self.place().storage().delete(&file.location).await {
                    // Somebody else cleans, too.
                    Ok(()) | Err(Storage::NotFound { .. }) => removed += 1,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if let Some(folder) = self.place().path() {
            removed += sweep(&folder.join(handle.table.name), linger)?;
            removed += sweep(&folder.join(aside::FOLDER).join(handle.table.name), linger)?;
        }
        Ok(removed)
    }

    /// Sums a table's log up, if enough commits were made since the last time, and removes entries that are not needed any
    /// more. Says whether it was due.
    ///
    /// # Errors
    /// The table can not be read or written.
    pub async fn checkpoint(&self, table: &str, every: u64) -> Result<bool> {
        self.handle(table)?.checkpoint(every).await
    }
}

/// Removes what never got its name: the process that wrote it is gone.
fn sweep(folder: &Path, linger: Duration) -> Result<usize> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(0) };
    let mut removed = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            removed += sweep(&path, linger)?;
            continue;
        }
        let unnamed = path.file_name().is_some_and(|name| {
            name.to_string_lossy().contains(".parquet#")
                || name.to_string_lossy().contains(".json#")
        });
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if unnamed && age.is_some_and(|age| age >= linger) {
            std::fs::remove_file(&path).map_err(Error::io("removing", &path))?;
            removed += 1;
        }
    }
    Ok(removed)
}
