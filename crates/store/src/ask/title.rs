//! Units of an answer's columns: those that come from a table as they are keep its units.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;

use crate::schema;

/// Names and types of a plan's columns, with units as metadata.
pub(super) fn of(plan: &LogicalPlan) -> SchemaRef {
    let tables = named(plan);
    let fields: Vec<Field> = plan
        .schema()
        .iter()
        .map(|(qualifier, field)| {
            let table = qualifier
                .map(|table| tables.get(table.table()).map_or(table.table(), String::as_str));
            let column = table.and_then(schema::table).and_then(|table| table.column(field.name()));
            // A time has its zone in its type, and is shown as a time.
            let is_time = matches!(field.data_type(), DataType::Timestamp(..));
            let unit = column.map(|column| column.unit).filter(|unit| !unit.is_empty() && !is_time);
            let metadata = unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
            field.as_ref().clone().with_metadata(metadata.into_iter().collect())
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The tables behind names that a question has given them itself.
fn named(plan: &LogicalPlan) -> HashMap<String, String> {
    let mut names = HashMap::new();
    let walked = plan.apply(|node| {
        if let LogicalPlan::SubqueryAlias(alias) = node {
            let mut below = alias.input.as_ref();
            while let LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) = below
                && let Some(next) = below.inputs().first()
            {
                below = next;
            }
            if let LogicalPlan::TableScan(scan) = below {
                let (name, table) = (alias.alias.table(), scan.table_name.table());
                names.insert(name.to_owned(), table.to_owned());
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    // The walk itself cannot fail; without names, columns have no units.
    drop(walked);
    names
}
