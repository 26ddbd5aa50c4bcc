//! The names that a session knows: fixed, whatever a statement tries.

use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::TableType;

use super::error::{Error, Kind};
use super::right::{self, Who};
use super::session::{CATALOG, SCHEMA};
use super::source::Source;
use super::{view, whole};

/// The one catalog, and no way to have another.
#[derive(Debug)]
pub(super) struct Catalogs {
    only: Arc<Catalog>,
}

impl Catalogs {
    pub(super) fn new(tables: Arc<Tables>) -> Catalogs {
        Catalogs { only: Arc::new(Catalog { tables, foreign: RwLock::default() }) }
    }
}

impl CatalogProviderList for Catalogs {
    fn register_catalog(
        &self,
        _: String,
        _: Arc<dyn CatalogProvider>,
    ) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        vec![CATALOG.to_owned()]
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        (name == CATALOG).then(|| Arc::clone(&self.only) as Arc<dyn CatalogProvider>)
    }
}

/// Our tables, and beside them what a foreign protocol wants to find (`pg_catalog`).
#[derive(Debug)]
struct Catalog {
    tables: Arc<Tables>,
    foreign: RwLock<Vec<(String, Arc<dyn SchemaProvider>)>>,
}

impl CatalogProvider for Catalog {
    fn schema_names(&self) -> Vec<String> {
        let foreign =
            self.foreign.read().map(|all| all.iter().map(|(name, _)| name.clone()).collect());
        let mut names: Vec<String> = foreign.unwrap_or_default();
        names.insert(0, SCHEMA.to_owned());
        names
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == SCHEMA {
            return Some(Arc::clone(&self.tables) as Arc<dyn SchemaProvider>);
        }
        let foreign = self.foreign.read().ok()?;
        foreign.iter().find(|(known, _)| known == name).map(|(_, schema)| Arc::clone(schema))
    }

    /// A door puts its own schema in before the first question; a second of the same name is refused.
    fn register_schema(
        &self,
        name: &str,
        schema: Arc<dyn SchemaProvider>,
    ) -> Result<Option<Arc<dyn SchemaProvider>>> {
        let mut foreign = self.foreign.write().map_err(|_| fixed())?;
        if name != "pg_catalog" || foreign.iter().any(|(known, _)| known == name) {
            return Err(fixed().into());
        }
        foreign.push((name.to_owned(), schema));
        Ok(None)
    }
}

fn fixed() -> Error {
    Error::new(Kind::ReadOnly, "the store's tables are fixed: nothing can be added or dropped")
}

/// The tables of a store as one person sees them.
#[derive(Debug)]
pub(super) struct Tables {
    source: Arc<dyn Source>,
    who: Who,
}

impl Tables {
    pub(super) fn new(source: Arc<dyn Source>, who: Who) -> Tables {
        Tables { source, who }
    }

    /// Every name that can stand behind FROM.
    pub(super) fn all(&self) -> Vec<String> {
        let mut names = self.source.names();
        names.extend(view::NAMES.iter().map(|&name| name.to_owned()));
        names
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        self.all()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if view::NAMES.contains(&name) {
            return view::table(name, self).await;
        }
        let Some(table) = self.source.table(name).await? else { return Ok(None) };
        let part = right::part(self.who, name, table)?;
        if name == whole::NAME { whole::jobs(part).map(Some) } else { Ok(Some(part)) }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(match () {
            () if view::NAMES.contains(&name) => Some(TableType::View),
            () if self.table_exist(name) => Some(TableType::Base),
            () => None,
        })
    }

    fn register_table(
        &self,
        _: String,
        _: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        Err(fixed().into())
    }

    fn deregister_table(&self, _: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        Err(fixed().into())
    }

    fn table_exist(&self, name: &str) -> bool {
        self.all().iter().any(|known| known == name)
    }
}
