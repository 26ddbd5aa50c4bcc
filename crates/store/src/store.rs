//! The tables of one place.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::place::Place;
use crate::schema::{TABLES, Table};
use crate::table::{Handle, Hot, Mark, Scan};
use crate::{Error, Result};

/// The tables of one place. A table begins with its first row; until then it is empty.
#[derive(Debug)]
pub struct Store {
    place: Arc<Place>,
    handles: BTreeMap<&'static str, Arc<Handle>>,
}

impl Store {
    /// Opens a store that is there.
    ///
    /// # Errors
    /// There is none.
    pub fn open(place: Place) -> Result<Store> {
        if let Some(path) = place.path().filter(|path| !path.is_dir()) {
            return Err(Error::Missing { place: path.display().to_string() });
        }
        // Whose folder it is decides who may look; a table would only say that it is not there.
        if let Some(path) = place.path() {
            std::fs::read_dir(path).map_err(Error::io("reading", path))?;
        }
        Store::new(place)
    }

    /// Opens a store, or begins one.
    ///
    /// # Errors
    /// Its directory can not be made.
    pub fn create(place: Place) -> Result<Store> {
        use std::os::unix::fs::DirBuilderExt as _;
        if let Some(path) = place.path() {
            // What a user does to their files is nobody else's business.
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(Error::io("making", path))?;
        }
        Store::new(place)
    }

    fn new(place: Place) -> Result<Store> {
        let place = Arc::new(place);
        let handles: Result<_> = TABLES
            .iter()
            .map(|table| Ok((table.name, Arc::new(Handle::new(table, &place)?))))
            .collect();
        Ok(Store { handles: handles?, place })
    }

    /// Where it lies.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whose rows queries see besides those in files.
    pub(crate) fn set_hot(&self, hot: Option<Arc<dyn Hot>>) {
        for handle in self.handles.values() {
            handle.set_hot(hot.clone());
        }
    }

    pub(crate) fn handle(&self, name: &str) -> Result<&Arc<Handle>> {
        self.handles.get(name).ok_or_else(|| Error::NoTable { name: name.to_owned() })
    }

    /// Adds rows to a table in one commit; says how many, which is 0 if `mark` is in the table already. Columns go by
    /// name, text may be plain, views or dictionaries, and columns that may be null may be missing.
    ///
    /// # Errors
    /// The rows do not fit, or the table can not be written.
    pub async fn append(
        &self,
        table: &str,
        batches: &[RecordBatch],
        mark: Option<&Mark>,
    ) -> Result<u64> {
        self.handle(table)?.append(batches, mark).await
    }

    /// How far somebody's work is in a table; nothing before their first commit.
    ///
    /// # Errors
    /// The table can not be read.
    pub async fn mark(&self, table: &str, name: &str) -> Result<Option<i64>> {
        self.handle(table)?.mark(name).await
    }

    /// The newest version of a table, with the rows that are in no file yet.
    ///
    /// # Errors
    /// The table can not be read.
    pub async fn scan(&self, table: &str) -> Result<Scan> {
        self.handle(table)?.scan().await
    }

    /// Makes every table known to a session under its own name. One that can not be read is left out, and named.
    ///
    /// # Errors
    /// The session does not take tables.
    pub async fn register(&self, session: &SessionContext) -> Result<Vec<Error>> {
        let mut unreadable = Vec::new();
        for table in TABLES.iter() {
            match self.scan(table.name).await {
                Ok(scan) => {
                    let scan: Arc<dyn TableProvider> = Arc::new(scan);
                    session.register_table(table.name, scan)?;
                }
                Err(error) => unreadable.push(error),
            }
        }
        Ok(unreadable)
    }

    /// The tables there are.
    pub fn tables(&self) -> impl Iterator<Item = &'static Table> {
        TABLES.iter()
    }

    /// Settings that questions to a store want: filters are answered while files are read.
    #[must_use]
    pub fn settings() -> SessionConfig {
        let mut config = SessionConfig::new().with_information_schema(true);
        let parquet = &mut config.options_mut().execution.parquet;
        parquet.pushdown_filters = true;
        parquet.reorder_filters = true;
        config
    }
}
