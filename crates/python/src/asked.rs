//! Rows that somebody else makes: the program `netra`, which knows stores, or a server. Both write Arrow's
//! stream format; its batches are handed on as they were read.

use std::io::{self, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Error;
use crate::feed::{End, Feed, Outlet};
use crate::patience::DEAF;

/// What a program may say about itself.
const SAYS: u64 = 1 << 20;

/// Whom to ask.
pub(crate) enum Way {
    /// A program that writes the rows to its standard output.
    Program(String, Vec<String>),
    /// A Python function that gives something to `read` from, and to `stop`.
    Server(Py<PyAny>),
}

/// A question that was asked: its first rows are on their way, and whoever wants them again asks again.
pub(crate) struct Asked {
    way: Way,
    pub(crate) schema: SchemaRef,
    begun: Mutex<Option<Feed>>,
}

impl Asked {
    /// Asks, and waits until the columns are known.
    pub(crate) fn new(py: Python<'_>, way: Way) -> PyResult<Asked> {
        let (schema, feed) = way.begin(py)?;
        Ok(Asked { way, schema, begun: Mutex::new(Some(feed)) })
    }

    /// The rows from the first.
    pub(crate) fn feed(&self, py: Python<'_>) -> PyResult<Feed> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        match begun {
            Some(feed) => Ok(feed),
            None => self.way.begin(py).map(|(_, feed)| feed),
        }
    }
}

/// The columns, or why there are none.
type Columns = Result<SchemaRef, String>;

impl Way {
    fn begin(&self, py: Python<'_>) -> PyResult<(SchemaRef, Feed)> {
        let (to, mut columns) = channel();
        let nothing = Arc::new(Schema::empty());
        let feed = match self {
            Way::Program(program, arguments) => {
                let mut child = start(program, arguments)?;
                let pipes = child.stdout.take().zip(child.stderr.take());
                let child = Arc::new(Mutex::new(child));
                let ending = Arc::clone(&child);
                // It may have ended by itself.
                let end: End = Box::new(move || drop(locked(&ending).kill()));
                Feed::start(nothing, Some(end), move |outlet| {
                    if let Some((rows, says)) = pipes {
                        pump(rows, || finish(&child, says), &to, outlet);
                    }
                })?
            }
            Way::Server(ask) => {
                let body = ask.call0(py)?;
                let stopped = body.clone_ref(py);
                let end: End = Box::new(move || {
                    Python::try_attach(|py| stopped.call_method0(py, "stop").is_ok());
                });
                Feed::start(nothing, Some(end), move |outlet| {
                    pump(Body(body), || Ok(()), &to, outlet);
                })?
            }
        };
        loop {
            let told = &mut columns;
            match py.detach(move || told.recv_timeout(DEAF)) {
                Ok(Ok(schema)) => return Ok((schema.clone(), feed.with_schema(schema))),
                Ok(Err(says)) => return Err(Error::new_err(says)),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new_err("the answer ended before it began"));
                }
            }
        }
    }
}

fn start(program: &str, arguments: &[String]) -> PyResult<Child> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .spawn()
        .map_err(|error| Error::new_err(format!("{program} can not be started: {error}")))
}

fn locked(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands on what is read, until its end or until nobody listens. When it ends, and more so when it breaks off,
/// `finish` knows whether that was the whole.
fn pump(
    from: impl Read,
    finish: impl FnOnce() -> Result<(), String>,
    columns: &Sender<Columns>,
    outlet: &Outlet,
) {
    let rows = match StreamReader::try_new(BufReader::new(from), None) {
        Ok(rows) => rows,
        Err(error) => {
            let says = finish().err().unwrap_or_else(|| error.to_string());
            // Whoever asked may have gone.
            drop(columns.send(Err(says)));
            return;
        }
    };
    if columns.send(Ok(rows.schema())).is_err() {
        return;
    }
    for batch in rows {
        match batch {
            Ok(batch) => {
                if !outlet.give(Ok(batch)) {
                    return;
                }
            }
            Err(error) => {
                let says = finish().err().unwrap_or_else(|| error.to_string());
                outlet.give(Err(ArrowError::ExternalError(says.into())));
                return;
            }
        }
    }
    if let Err(says) = finish() {
        outlet.give(Err(ArrowError::ExternalError(says.into())));
    }
}

/// Waits for the program's end; an error is what it said.
fn finish(child: &Mutex<Child>, says: ChildStderr) -> Result<(), String> {
    let mut text = String::new();
    // What can not be read is said by the exit code.
    drop(says.take(SAYS).read_to_string(&mut text));
    let status = locked(child).wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let text = text.trim();
    Err(match text.strip_prefix("netra: ").unwrap_or(text) {
        "" => format!("the program ended with {status}"),
        text => text.to_owned(),
    })
}

/// The body of a server's answer.
struct Body(Py<PyAny>);

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let bytes =
                self.0.call_method1(py, "read", (buffer.len(),)).map_err(io::Error::other)?;
            let bytes = bytes.bind(py).cast::<PyBytes>();
            let bytes = bytes.map_err(|error| io::Error::other(error.to_string()))?.as_bytes();
            let count = bytes.len().min(buffer.len());
            buffer[..count].copy_from_slice(&bytes[..count]);
            Ok(count)
        })
    }
}
