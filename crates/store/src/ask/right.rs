//! Who sees which rows, in one place for every door.
//!
//! The filter is put over the table itself, before a question can name it, so that no join, sub-query or view
//! goes around it; the optimiser then pushes it down into the files like any other.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::catalog::view::ViewTable;
use datafusion::common::Result;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};

/// The column that says whose a row is.
const OWNER: &str = "uid";

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// A user, by number: sees the rows of their own jobs.
    User(u32),
    /// Sees everything.
    Administrator,
}

/// The part of a table that this person may see. Tables without an owner (what a node does by itself) are
/// for everybody.
pub(super) fn part(
    who: Who,
    name: &str,
    table: Arc<dyn TableProvider>,
) -> Result<Arc<dyn TableProvider>> {
    let Who::User(uid) = who else { return Ok(table) };
    if table.schema().field_with_name(OWNER).is_err() {
        return Ok(table);
    }
    let plan = LogicalPlanBuilder::scan(name, provider_as_source(table), None)?
        .filter(col(OWNER).eq(lit(i64::from(uid))))?
        .build()?;
    Ok(Arc::new(ViewTable::new(plan, None)))
}
