//! What a client sends: questions, and the statements around them that a database answers by itself.

use datafusion::sql::sqlparser::ast::{
    CloseCursor, CopySource, CopyTarget, Declare, DeclareType, Expr, FetchDirection, Set,
    Statement, Value, ValueWithSpan,
};
use datafusion_postgres::pgwire::error::PgWireResult;

use super::copy::Text;
use super::refuse;

/// One statement.
#[derive(Debug, Clone)]
pub(super) enum Command {
    /// A question: its rows are the answer.
    Ask(Box<Statement>),
    /// The same, as lines.
    Copy(Box<Statement>, Text),
    /// Opens a cursor.
    Declare(String, Box<Statement>),
    /// The next rows of a cursor.
    Fetch(String, Option<usize>),
    /// Closes a cursor, or all.
    Close(Option<String>),
    /// The value of a setting.
    Show(String),
    /// Sets a setting, or sets it back.
    Set(String, Option<String>),
    /// Sets all of them back.
    Reset,
    /// A transaction begins.
    Begin,
    /// It ends well.
    Commit,
    /// It ends otherwise.
    Rollback,
    /// Done by saying so: there is nothing behind it.
    Nothing(&'static str),
}

impl Command {
    pub(super) fn of(statement: Statement) -> PgWireResult<Command> {
        Ok(match statement {
            Statement::Set(set) => set_of(set)?,
            Statement::Reset(reset) => match reset.reset {
                datafusion::sql::sqlparser::ast::Reset::ALL => Command::Reset,
                datafusion::sql::sqlparser::ast::Reset::ConfigurationParameter(name) => {
                    Command::Set(name.to_string(), None)
                }
            },
            Statement::ShowVariable { variable } => {
                let words: Vec<String> =
                    variable.iter().map(|word| word.value.to_lowercase()).collect();
                Command::Show(match words.join(" ").as_str() {
                    "time zone" => "timezone".to_owned(),
                    "transaction isolation level" => "transaction_isolation".to_owned(),
                    _ => words.join("."),
                })
            }
            Statement::StartTransaction { .. } => Command::Begin,
            Statement::Commit { .. } => Command::Commit,
            Statement::Rollback { savepoint: None, .. } => Command::Rollback,
            Statement::Rollback { .. } => Command::Nothing("ROLLBACK"),
            Statement::Savepoint { .. } => Command::Nothing("SAVEPOINT"),
            Statement::ReleaseSavepoint { .. } => Command::Nothing("RELEASE"),
            Statement::Deallocate { .. } => Command::Nothing("DEALLOCATE"),
            Statement::Discard { .. } => Command::Reset,
            Statement::LISTEN { .. } => Command::Nothing("LISTEN"),
            Statement::UNLISTEN { .. } => Command::Nothing("UNLISTEN"),
            Statement::Declare { stmts } => declare(stmts)?,
            Statement::Fetch { name, direction, into: None, .. } => {
                Command::Fetch(name.value, forward(&direction)?)
            }
            Statement::Close { cursor: CloseCursor::All } => Command::Close(None),
            Statement::Close { cursor: CloseCursor::Specific { name } } => {
                Command::Close(Some(name.value))
            }
            Statement::Copy { source, to: true, target: CopyTarget::Stdout, options, .. } => {
                let text = Text::of(&options)?;
                Command::Copy(Box::new(copied(source)?), text)
            }
            question => Command::Ask(Box::new(question)),
        })
    }
}

fn set_of(set: Set) -> PgWireResult<Command> {
    Ok(match set {
        Set::SingleAssignment { variable, values, .. } => {
            let words: Vec<String> = values.iter().map(text).collect();
            let value = words.join(", ");
            let default = value.eq_ignore_ascii_case("default");
            Command::Set(variable.to_string(), (!default).then_some(value))
        }
        Set::SetTimeZone { value, .. } => Command::Set("timezone".to_owned(), Some(text(&value))),
        Set::SetNames { .. } | Set::SetNamesDefault {} => Command::Nothing("SET"),
        // Isolation changes nothing where nothing changes; READ WRITE is refused when something is written.
        Set::SetTransaction { .. } => Command::Nothing("SET"),
        Set::SetRole { .. } | Set::SetSessionAuthorization(_) => {
            return Err(refuse::error("42501", "nobody can become somebody else here"));
        }
        other => return Err(refuse::error("0A000", format!("SET {other} is not known here"))),
    })
}

/// A value as the client meant it, without its quotes.
fn text(value: &Expr) -> String {
    match value {
        Expr::Value(ValueWithSpan {
            value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text),
            ..
        }) => text.clone(),
        Expr::Identifier(name) => name.value.clone(),
        other => other.to_string(),
    }
}

fn declare(mut all: Vec<Declare>) -> PgWireResult<Command> {
    let wrong = || refuse::error("42601", "write DECLARE name CURSOR FOR SELECT …");
    let one = if all.len() == 1 { all.pop() } else { None }.ok_or_else(wrong)?;
    if one.declare_type != Some(DeclareType::Cursor) {
        return Err(wrong());
    }
    if one.scroll == Some(true) {
        return Err(refuse::error("0A000", "a cursor only goes forward here"));
    }
    let name = one.names.first().ok_or_else(wrong)?.value.clone();
    let query = one.for_query.ok_or_else(wrong)?;
    Ok(Command::Declare(name, Box::new(Statement::Query(query))))
}

/// How many rows are fetched; all if nothing says otherwise.
fn forward(direction: &FetchDirection) -> PgWireResult<Option<usize>> {
    let number = |limit: &ValueWithSpan| match &limit.value {
        Value::Number(text, _) => text
            .parse()
            .map_err(|_| refuse::error("22023", format!("\"{text}\" is no number of rows"))),
        other => Err(refuse::error("22023", format!("{other} is no number of rows"))),
    };
    match direction {
        FetchDirection::Next | FetchDirection::Forward { limit: None } => Ok(Some(1)),
        FetchDirection::Count { limit } | FetchDirection::Forward { limit: Some(limit) } => {
            number(limit).map(Some)
        }
        FetchDirection::All | FetchDirection::ForwardAll => Ok(None),
        _ => Err(refuse::error("55000", "a cursor only goes forward here")),
    }
}

/// The question behind `COPY … TO STDOUT`.
fn copied(source: CopySource) -> PgWireResult<Statement> {
    match source {
        CopySource::Query(query) => Ok(Statement::Query(query)),
        CopySource::Table { table_name, columns } => {
            let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
            let names = if names.is_empty() { "*".to_owned() } else { names.join(", ") };
            let sql = format!("SELECT {names} FROM {table_name}");
            let all = super::parse::statements(&sql)?;
            all.into_iter().next().ok_or_else(|| refuse::error("42601", "there is nothing to copy"))
        }
    }
}
