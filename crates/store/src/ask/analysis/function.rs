//! `analyse('NAME', 'job=4711', …)` behind FROM.
//!
//! Planning needs the columns, and the columns are known when the module has run: so it runs before, and the plan
//! finds the table that it made.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::MemTable;
use datafusion::logical_expr::Expr as Plan;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, Statement, TableFactor, Value,
    VisitMut as _, VisitorMut,
};

use super::super::error::{Error, Kind};
use super::super::session::Session;
use super::{Analyses, Made};

/// What the function is called.
pub(in super::super) const NAME: &str = "analyse";
/// Tables that a session remembers: those of the statements that are planned at the moment.
const KEPT: usize = 16;
const USAGE: &str = "it is analyse('NAME', 'parameter=value', …), with texts";

/// The tables that were made for a session's statements.
#[derive(Debug, Default)]
pub(in super::super) struct Results {
    made: Mutex<VecDeque<(Vec<String>, Arc<Made>)>>,
}

impl Results {
    fn put(&self, call: Vec<String>, made: Arc<Made>) {
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(known, _)| *known != call);
        all.truncate(KEPT - 1);
        all.push_front((call, made));
    }
}

impl TableFunctionImpl for Results {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let text = |expression: &Plan| match expression {
            Plan::Literal(ScalarValue::Utf8(Some(text)), _) => Some(text.clone()),
            _ => None,
        };
        let call: Option<Vec<String>> = arguments.exprs().iter().map(text).collect();
        let call = call.ok_or_else(usage)?;
        let all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, made) = all.iter().find(|(known, _)| *known == call).ok_or_else(usage)?;
        Ok(Arc::new(MemTable::try_new(Arc::clone(&made.schema), vec![made.rows.clone()])?))
    }
}

fn usage() -> Error {
    Error::new(Kind::Function, format!("{NAME} can not be called so: {USAGE}"))
}

/// Runs the modules that a statement names, as the session's user, and leaves each call as plain texts in it.
pub(in super::super) async fn resolve(
    session: &Session,
    analyses: &Analyses,
    results: &Results,
    statement: &mut Statement,
) -> Result<(), Error> {
    for call in calls(statement)? {
        if let Some((name, parameters)) = call.split_first() {
            // The inputs are asked through the same session: without a box the future would contain itself.
            let made = Box::pin(analyses.run(session, name, parameters)).await?;
            results.put(call, made);
        }
    }
    Ok(())
}

/// An error if a statement names a module: modules do not call each other.
pub(in super::super) fn refuse(statement: &mut Statement) -> Result<(), Error> {
    match calls(statement)?.is_empty() {
        true => Ok(()),
        false => {
            Err(Error::new(Kind::Analysis, "an input of an analysis can not be another analysis"))
        }
    }
}

/// The calls of the function in a statement, each as its texts.
fn calls(statement: &mut Statement) -> Result<Vec<Vec<String>>, Error> {
    struct Finder {
        found: Vec<Vec<String>>,
    }
    impl VisitorMut for Finder {
        type Break = Error;

        fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
            let TableFactor::Table { name, args: Some(arguments), .. } = factor else {
                return ControlFlow::Continue(());
            };
            if !name.to_string().eq_ignore_ascii_case(NAME) {
                return ControlFlow::Continue(());
            }
            let texts: Option<Vec<String>> = arguments.args.iter().map(argument).collect();
            let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
                return ControlFlow::Break(usage());
            };
            arguments.args = texts.iter().map(|text| plain(text)).collect();
            self.found.push(texts);
            ControlFlow::Continue(())
        }
    }
    let mut finder = Finder { found: Vec::new() };
    match statement.visit(&mut finder) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(finder.found),
    }
}

fn argument(argument: &FunctionArg) -> Option<String> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => text(expression),
        _ => None,
    }
}

/// A text, also one that is put together: dashboards write `'job=' || $job`.
fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Nested(inner) => text(inner),
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
            Some(text(left)? + &text(right)?)
        }
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn plain(text: &str) -> FunctionArg {
    let value = Expr::value(Value::SingleQuotedString(text.to_owned()));
    FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
}
