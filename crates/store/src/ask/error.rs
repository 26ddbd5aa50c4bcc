//! Why a question has no answer: a kind that doors turn into their own codes, a sentence, and what was probably meant.

use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;

use netra_stream::guess::nearest;

/// What is wrong with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// It is not SQL.
    Syntax,
    /// It names a table that is not there.
    Table,
    /// It names a column that is not there.
    Column,
    /// It names a column that several tables have.
    Ambiguous,
    /// It names a function that is not there, or gives it the wrong arguments.
    Function,
    /// It would change something.
    ReadOnly,
    /// It needs more memory or spill space than it may have.
    Memory,
    /// It takes longer than it may.
    Timeout,
    /// Somebody stopped it.
    Stopped,
    /// It is good SQL that we cannot do.
    Unsupported,
    /// It makes no sense: types that do not go together, a column that is not grouped.
    Meaning,
    /// A value is not what its type needs: a text that is no number, a division by zero.
    Value,
    /// An analysis module can not be used, or has failed.
    Analysis,
    /// The store cannot be read.
    Store,
}

/// Why a question has no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}{}", hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct Error {
    /// What is wrong.
    pub kind: Kind,
    /// The same as a sentence.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
}

impl Error {
    /// An error without a hint.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: None }
    }

    /// The same with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// What DataFusion says, in our words; `tables` are those that could have been meant.
    #[must_use]
    pub fn of(error: &DataFusionError, tables: &[String]) -> Error {
        match error {
            DataFusionError::External(source) => match source.downcast_ref::<Error>() {
                Some(own) => own.clone(),
                None => match source.downcast_ref::<DataFusionError>() {
                    Some(inner) => Error::of(inner, tables),
                    None => Error::new(Kind::Store, source.to_string()),
                },
            },
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
                Error::of(inner, tables)
            }
            DataFusionError::Shared(inner) => Error::of(inner, tables),
            DataFusionError::Collection(all) => match all.first() {
                Some(first) => Error::of(first, tables),
                None => Error::new(Kind::Meaning, "the question could not be planned"),
            },
            DataFusionError::SQL(parser, _) => {
                Error::new(Kind::Syntax, syntax(&parser.to_string()))
            }
            DataFusionError::SchemaError(schema, _) => Error::schema(schema),
            DataFusionError::Plan(text) => Error::plan(text, tables),
            DataFusionError::NotImplemented(text) => Error::new(Kind::Unsupported, first(text)),
            DataFusionError::ResourcesExhausted(text) => Error::memory(text),
            DataFusionError::ArrowError(_, _) | DataFusionError::Execution(_) => {
                let text = bare(error);
                // Running out of space to spill has no kind of its own there.
                match text.contains("space during the spilling") {
                    true => Error::memory(&text),
                    false => Error::new(Kind::Value, first(&text)),
                }
            }
            _ => Error::new(Kind::Store, first(&bare(error))),
        }
    }

    fn schema(error: &SchemaError) -> Error {
        match error {
            SchemaError::FieldNotFound { field, valid_fields } => {
                missing_column(field, valid_fields)
            }
            SchemaError::AmbiguousReference { field } => {
                let message = format!("column \"{}\" is in several of the tables", field.name);
                Error::new(Kind::Ambiguous, message).hint("put the table's name before it")
            }
            other => Error::new(Kind::Ambiguous, first(&other.to_string())),
        }
    }

    fn plan(text: &str, tables: &[String]) -> Error {
        if let Some(name) = between(text, "table '", "' not found") {
            return missing_table(name, tables);
        }
        if let Some(name) = between(text, "Invalid function '", "'") {
            return Error::new(Kind::Function, format!("{MISSING_FUNCTION}{name}"));
        }
        if text.contains("No function matches") || text.contains("Failed to coerce arguments") {
            return Error::new(Kind::Function, first(text));
        }
        Error::new(Kind::Meaning, first(text))
    }

    fn memory(text: &str) -> Error {
        let text = first(text);
        let why = text.split(" with top memory consumers").next().unwrap_or_default();
        let message = format!("the question needs more memory than it may have: {why}");
        Error::new(Kind::Memory, message)
            .hint("ask for fewer rows or columns, or for one job; or raise the limit")
    }
}

/// How the sentence about a missing function begins.
const MISSING_FUNCTION: &str = "there is no function ";

impl Error {
    /// Says which of the functions that are there was probably meant, if one is missing.
    #[must_use]
    pub(super) fn or_function<'a>(self, known: impl IntoIterator<Item = &'a str>) -> Error {
        let meant =
            self.message.strip_prefix(MISSING_FUNCTION).and_then(|wrong| nearest(wrong, known));
        match meant {
            Some(meant) => {
                let hint = format!("did you mean {meant}?");
                self.hint(hint)
            }
            None => self,
        }
    }
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> DataFusionError {
        DataFusionError::External(Box::new(error))
    }
}

fn missing_table(name: &str, tables: &[String]) -> Error {
    // DataFusion says netra.public.name; people said name.
    let bare = name.rsplit('.').next().unwrap_or(name);
    let error = Error::new(Kind::Table, format!("there is no table \"{bare}\""));
    match nearest(bare, tables.iter().map(String::as_str)) {
        Some(meant) => error.hint(format!("did you mean \"{meant}\"?")),
        None if tables.is_empty() => error,
        None => error.hint(format!("there are {}", tables.join(", "))),
    }
}

fn missing_column(field: &Column, valid: &[Column]) -> Error {
    let error = Error::new(Kind::Column, format!("there is no column \"{}\"", field.name));
    let names: Vec<&str> = valid.iter().map(Column::name).collect();
    match nearest(&field.name, names.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean \"{meant}\"?")),
        // A wide table's names would fill the screen.
        None if names.len() > 30 || names.is_empty() => error,
        None => error.hint(format!("there are {}", names.join(", "))),
    }
}

/// The parser's sentence without the name of its kind.
fn syntax(text: &str) -> String {
    text.trim_start_matches("sql parser error: ").to_owned()
}

/// The error without the words that say which part of DataFusion it comes from.
fn bare(error: &DataFusionError) -> String {
    error.message().into_owned()
}

/// The first line; what follows is a list of signatures or a trace.
fn first(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}
