//! The inputs of a module: its questions with the parameters put in, asked as the caller, and written down for Python.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Value, visit_expressions_mut};
use futures::StreamExt as _;
use netra_event::Bytes;
use serde_json::Value as Json;

use super::super::error::{Error, Kind};
use super::super::session::Session;
use super::declared::{Asks, Part, Values};
use super::value::expression;

/// The question of an input.
pub(super) fn statement(
    session: &Session,
    asks: &Asks,
    values: &Values,
) -> Result<Statement, Error> {
    let sql = match asks {
        Asks::Query(sql) => sql.clone(),
        Asks::Table(part) => question(part, values),
    };
    let mut statement = session.parse(&sql)?;
    if let Statement::Statement(inner) = &mut statement {
        let mut unknown = BTreeSet::new();
        let put: ControlFlow<()> = visit_expressions_mut(&mut **inner, |one| {
            if let Some(name) = placeholder(one) {
                match values.get(name) {
                    Some((of, value)) => *one = expression(*of, value),
                    None => drop(unknown.insert(name.to_owned())),
                }
            }
            ControlFlow::Continue(())
        });
        debug_assert!(put.is_continue(), "nothing ends the walk");
        if let Some(name) = unknown.first() {
            let says = format!("there is no parameter \"{name}\" for ${name}");
            return Err(Error::new(Kind::Analysis, says));
        }
    }
    Ok(statement)
}

fn placeholder(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.strip_prefix('$'),
            _ => None,
        },
        _ => None,
    }
}

/// Columns of a table, of the rows that the parameters choose.
fn question(part: &Part, values: &Values) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = part.columns.iter().map(|name| quoted(name)).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let given = |name: &str| values.get(name).is_some_and(|(_, value)| *value != Json::Null);
    let mut all = Vec::new();
    for filter in &part.filters {
        match filter.as_str() {
            "job" => all.push("job = job($job)".to_owned()),
            "rank" if given("ranks") => all.push("array_has($ranks, rank)".to_owned()),
            "time" => {
                all.extend(given("since").then(|| "t >= $since".to_owned()));
                all.extend(given("until").then(|| "t < $until".to_owned()));
            }
            "file" if given("file") => all.push("strpos(file, $file) > 0".to_owned()),
            _ => {}
        }
    }
    all.extend(part.condition.iter().map(|condition| format!("({condition})")));
    let filter =
        if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) };
    format!("SELECT {columns} FROM {}{filter}", quoted(&part.table))
}

/// Asks, and writes the rows behind what was written before: all inputs together take at most `most`.
pub(super) async fn write(
    session: &Session,
    statement: Statement,
    to: &mut Vec<u8>,
    most: Bytes,
) -> Result<(), Error> {
    let plan = session.plan_plain(statement).await?;
    let mut answer = session.run(plan, None).await?;
    let broken = |error: datafusion::arrow::error::ArrowError| {
        Error::new(Kind::Store, format!("writing rows: {error}"))
    };
    let mut writer = StreamWriter::try_new(to, &answer.schema()).map_err(broken)?;
    while let Some(rows) = answer.next().await {
        writer.write(&rows?).map_err(broken)?;
        if writer.get_ref().len() as u64 > most.0 {
            let says = format!("the rows are more than {} MiB", most.0 >> 20);
            let error = Error::new(Kind::Memory, says);
            return Err(error.hint("choose fewer, or add them up in the question"));
        }
    }
    writer.finish().map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::super::value::Type;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_is_asked_for_what_is_given() {
        let part = Part {
            table: "events".into(),
            columns: vec!["t".into(), "offset".into()],
            filters: ["job", "rank", "time", "file"].map(str::to_owned).into(),
            condition: Some("op = 'read'".into()),
        };
        let mut values = Values::from([
            ("job".to_owned(), (Type::Text, json!("4711"))),
            ("ranks".to_owned(), (Type::Ints, Json::Null)),
            ("since".to_owned(), (Type::Time, json!("2026-11-16T10:00:00+00:00"))),
        ]);
        assert_eq!(
            question(&part, &values),
            "SELECT \"t\", \"offset\" FROM \"events\" WHERE job = job($job) AND t >= $since AND (op = 'read')"
        );
        values.insert("ranks".into(), (Type::Ints, json!([1])));
        assert!(question(&part, &values).contains("array_has($ranks, rank)"));
    }
}
