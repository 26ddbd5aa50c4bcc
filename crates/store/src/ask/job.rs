//! `job('…')`: a job by its key, its number, or the beginning of its key.
//!
//! It is looked up before planning and stands in the plan as a plain text, so that only the files of that job are
//! opened. The lookup goes through the same session: nobody finds a job that they may not see.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr as Plan, col, lit};
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Statement, Value,
    visit_expressions, visit_expressions_mut,
};

use super::error::{Error, Kind};
use super::session::Session;

/// As many candidates are named in an error.
const NAMED: usize = 5;

/// Puts keys in the place of all calls of `job('…')`.
pub(super) async fn resolve(session: &Session, statement: &mut Statement) -> super::Result<()> {
    let mut keys = BTreeMap::new();
    let seen: ControlFlow<()> = visit_expressions(statement, |expression| {
        if let Some(text) = asked(expression) {
            keys.insert(text.to_owned(), String::new());
        }
        ControlFlow::Continue(())
    });
    debug_assert!(seen.is_continue(), "nothing ends the walk");
    for (text, key) in &mut keys {
        *key = find(session, text).await?;
    }
    let put: ControlFlow<()> = visit_expressions_mut(statement, |expression| {
        if let Some(key) = asked(expression).and_then(|text| keys.get(text)) {
            *expression = Expr::value(Value::SingleQuotedString(key.clone()));
        }
        ControlFlow::Continue(())
    });
    debug_assert!(put.is_continue(), "nothing ends the walk");
    Ok(())
}

/// The text of `job('text')`.
fn asked(expression: &Expr) -> Option<&str> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expression
    else {
        return None;
    };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))] = list.args.as_slice()
    else {
        return None;
    };
    match &value.value {
        Value::SingleQuotedString(text) | Value::Number(text, _)
            if name.to_string().eq_ignore_ascii_case("job") =>
        {
            Some(text)
        }
        _ => None,
    }
}

/// The key of the job that a text means: the first of these ways that finds one decides.
async fn find(session: &Session, text: &str) -> super::Result<String> {
    let mut ways: Vec<Plan> = vec![col("job").eq(lit(text))];
    if let Ok(number) = text.parse::<i64>() {
        ways.push(col("job_id").eq(lit(number)));
    }
    ways.push(datafusion::prelude::starts_with(col("job"), lit(text)));
    for way in ways {
        let found = keys(session, way).await?;
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.clone()),
            several => return Err(ambiguous(text, several)),
        }
    }
    Err(Error::new(Kind::Value, format!("there is no job \"{text}\""))
        .hint("netra jobs lists those that you may see"))
}

fn ambiguous(text: &str, several: &[String]) -> Error {
    let named = several.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if several.len() > NAMED { ", …" } else { "" };
    Error::new(Kind::Value, format!("several jobs are meant by \"{text}\": {named}{more}"))
        .hint("say more of the key")
}

/// Keys of the jobs that a condition finds, one more than an error names.
async fn keys(session: &Session, condition: Plan) -> super::Result<Vec<String>> {
    let work = async {
        let rows = session
            .context()
            .table("jobs")
            .await?
            .filter(condition)?
            .select_columns(&["job"])?
            .distinct()?
            .sort(vec![col("job").sort(true, false)])?
            .limit(0, Some(NAMED + 1))?
            .collect()
            .await?;
        let mut keys = Vec::new();
        for batch in rows {
            let texts = cast(batch.column(0), &DataType::Utf8)?;
            keys.extend(texts.as_string::<i32>().iter().flatten().map(str::to_owned));
        }
        Ok(keys)
    };
    work.await.map_err(|error| session.error(&error))
}
