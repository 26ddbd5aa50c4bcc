//! Errors as Python sees them: one exception, with the words that the program says.

use std::error::Error as _;

use arrow_schema::ArrowError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    netra,
    Error,
    PyException,
    "Something could not be read; the message says what, where and why."
);

/// An error of the log library with its causes, about a file.
pub(crate) fn about(path: &str, error: &netra_darshan::Error) -> PyErr {
    let mut says = format!("{path}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        says.push_str(": ");
        says.push_str(&error.to_string());
        cause = error.source();
    }
    Error::new_err(says)
}

/// Why there is no batch. What a program or a server said stands in it as it was said.
pub(crate) fn of_batch(error: &ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(says) => Error::new_err(says.to_string()),
        other => Error::new_err(other.to_string()),
    }
}
