//! Why something is refused, as clients of PostgreSQL expect it: five letters that programs look at, and a sentence.

use datafusion_postgres::pgwire::error::{ErrorInfo, PgWireError};
use netra_store::ask::{Error, Kind};

/// An error that leaves the connection open.
pub(super) fn error(code: &str, message: impl Into<String>) -> PgWireError {
    with("ERROR", code, message, None)
}

/// An error that ends the connection.
pub(super) fn fatal(code: &str, message: impl Into<String>) -> PgWireError {
    with("FATAL", code, message, None)
}

fn with(
    severity: &str,
    code: &str,
    message: impl Into<String>,
    hint: Option<String>,
) -> PgWireError {
    let mut info = ErrorInfo::new(severity.to_owned(), code.to_owned(), message.into());
    // Since version 9.6 clients look at the one that is never translated.
    info.severity_nonlocalized = Some(severity.to_owned());
    info.hint = hint;
    PgWireError::UserError(Box::new(info))
}

/// A question that has no answer.
pub(super) fn question(error: &Error) -> PgWireError {
    with("ERROR", state(error.kind), &error.message, error.hint.clone())
}

/// PostgreSQL's code for a kind of error.
fn state(kind: Kind) -> &'static str {
    match kind {
        Kind::Syntax => "42601",
        Kind::Table => "42P01",
        Kind::Column => "42703",
        Kind::Ambiguous => "42702",
        Kind::Function => "42883",
        Kind::ReadOnly => "25006",
        Kind::Memory => "53200",
        Kind::Timeout | Kind::Stopped => "57014",
        Kind::Unsupported => "0A000",
        Kind::Meaning => "42000",
        Kind::Value => "22000",
        Kind::Analysis => "38000",
        Kind::Store => "58000",
        _ => "XX000",
    }
}
