//! `jobs` as people mean it: one row a job, though the store has one for each part of it that was seen.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::catalog::view::ViewTable;
use datafusion::common::Result;
use datafusion::datasource::provider_as_source;
use datafusion::functions_aggregate::expr_fn::{max, min, sum};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, ident};

use crate::schema::{self, DAY, Merge};

/// The table whose parts are put together, and what they have in common.
pub(super) const NAME: &str = "jobs";
const KEY: &str = "job";

/// The parts of each job as one row. What differs between them without adding up is shown once.
pub(super) fn jobs(parts: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
    let names: Vec<String> =
        parts.schema().fields().iter().map(|field| field.name().clone()).collect();
    let others: Vec<Expr> =
        names.iter().filter(|name| *name != KEY).map(|name| together(name)).collect();
    let plan = LogicalPlanBuilder::scan(NAME, provider_as_source(parts), None)?
        .aggregate(vec![ident(KEY)], others)?
        .project(names.iter().map(ident))?
        .build()?;
    Ok(Arc::new(ViewTable::new(plan, None)))
}

fn together(name: &str) -> Expr {
    let merge = schema::table(NAME).and_then(|table| table.column(name)).map(|column| column.merge);
    match merge {
        Some(Merge::Sum) => sum(ident(name)),
        Some(Merge::Least) => min(ident(name)),
        None if name == DAY => min(ident(name)),
        _ => max(ident(name)),
    }
    .alias(name)
}
