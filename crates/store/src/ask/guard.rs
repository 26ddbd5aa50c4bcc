//! Nothing can be changed through a question: its plan is looked at before it runs.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner as _};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

use super::error::{Error, Kind};

/// An error if any part of the plan would change something.
pub(super) fn check(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| match refused(node) {
        Some(what) => Err(Error::new(Kind::ReadOnly, sentence(&what)).into()),
        None => Ok(TreeNodeRecursion::Continue),
    })?;
    Ok(())
}

/// An error for statements that only ever change something: they may not even be planned, which looks at files.
pub(super) fn statement(statement: &Statement) -> super::Result<()> {
    let what = match statement {
        Statement::CreateExternalTable(_) => "CREATE EXTERNAL TABLE",
        Statement::CopyTo(_) => "COPY",
        Statement::Statement(inner) if matches!(**inner, ast::Statement::Copy { .. }) => "COPY",
        _ => return Ok(()),
    };
    Err(Error::new(Kind::ReadOnly, sentence(what)))
}

fn sentence(what: &str) -> String {
    format!("the store can only be read, not changed: {what} is refused")
}

fn refused(node: &LogicalPlan) -> Option<String> {
    match node {
        LogicalPlan::Ddl(statement) => Some(spaced(statement.name())),
        LogicalPlan::Dml(statement) => Some(statement.op.to_string().to_uppercase()),
        LogicalPlan::Copy(_) => Some("COPY".to_owned()),
        // SET, PREPARE and transactions: doors that speak of them answer by themselves.
        LogicalPlan::Statement(statement) => Some(spaced(statement.name())),
        _ => None,
    }
}

/// `CreateExternalTable` as people write it.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_uppercase());
    }
    words
}

/// Plans what may run, and nothing else: a door that forgets to ask [`check`] meets it here.
#[derive(Debug)]
pub(super) struct ReadOnly;

#[async_trait]
impl QueryPlanner for ReadOnly {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        check(plan)?;
        DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await
    }
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn statements_are_named_as_people_write_them() {
        assert_eq!(spaced("CreateExternalTable"), "CREATE EXTERNAL TABLE");
        assert_eq!(spaced("DropTable"), "DROP TABLE");
    }
}
