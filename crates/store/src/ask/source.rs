//! Where a session's tables come from.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;

use super::error::{Error, Kind};
use crate::{Store, schema};

/// Tables by name. They are looked up anew for every question, so that a session that lives for days sees what was
/// committed a moment ago.
#[async_trait]
pub trait Source: Debug + Send + Sync {
    /// All names, in the order in which people should see them.
    fn names(&self) -> Vec<String>;

    /// A table as it is now; `None` where there is none of this name.
    async fn table(&self, name: &str) -> datafusion::error::Result<Option<Arc<dyn TableProvider>>>;
}

#[async_trait]
impl Source for Store {
    fn names(&self) -> Vec<String> {
        self.tables().map(|table| table.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> datafusion::error::Result<Option<Arc<dyn TableProvider>>> {
        if schema::table(name).is_none() {
            return Ok(None);
        }
        match self.scan(name).await {
            Ok(scan) => Ok(Some(Arc::new(scan))),
            Err(error) => Err(Error::new(Kind::Store, error.to_string()).into()),
        }
    }
}
