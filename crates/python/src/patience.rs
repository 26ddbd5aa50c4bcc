//! Waiting for what takes long and comes in one piece, while Ctrl-C gets through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How long Python is not asked whether somebody pressed Ctrl-C.
pub(crate) const DEAF: Duration = Duration::from_millis(50);

/// Does something that takes long, while Ctrl-C gets through. Nobody waits for the rest then; the work learns that from
/// what it is given, and what can not be left half done ends by itself.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> PyResult<T> {
    let (to, mut from) = sync_channel(1);
    let unwanted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&unwanted);
    let work = move || {
        // Whoever asked may have gone.
        to.send(work(&|| !seen.load(Ordering::Relaxed))).ok()
    };
    thread::Builder::new().name("netra".into()).spawn(work)?;
    loop {
        let waiting = &mut from;
        match py.detach(move || waiting.recv_timeout(DEAF)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| unwanted.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("reading ended before its end"));
            }
        }
    }
}
