//! How far a scan has come, for who waits for it.

use std::sync::atomic::{AtomicU64, Ordering};

use netra_darshan::read::Log;
use netra_event::Module;

/// Bytes of logs that are read, of those that will be.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    total: AtomicU64,
    /// Of the logs before the one that is being read.
    before: AtomicU64,
    /// Of this log.
    here: AtomicU64,
}

impl Progress {
    /// So much is to be read.
    pub(crate) fn expect(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
    }

    /// This log is read up to here, counted from the beginning of what is wanted of it.
    pub(crate) fn reach(&self, bytes: u64) {
        self.here.store(bytes, Ordering::Relaxed);
    }

    /// A log is done.
    pub(crate) fn pass(&self, bytes: u64) {
        self.here.store(0, Ordering::Relaxed);
        self.before.fetch_add(bytes, Ordering::Relaxed);
    }

    /// From 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let done = self.before.load(Ordering::Relaxed) + self.here.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed).max(1);
        (done as f64 / total as f64).min(1.0)
    }
}

/// Bytes that a module takes in a log; of what is no module, the whole log counts.
pub(crate) fn size(log: &Log, module: Option<Module>) -> u64 {
    module.map_or(log.file_length(), |module| log.header().region(module).extent.length)
}
