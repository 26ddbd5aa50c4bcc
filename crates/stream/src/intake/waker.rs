//! News for threads that wait in `poll`: a descriptor that becomes readable.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes a thread that waits in `poll` when something new is in the spool.
#[derive(Debug)]
pub struct Waker {
    /// Readable when there is something.
    pub fd: OwnedFd,
    pub(super) wanted: AtomicBool,
}

impl Waker {
    /// Says that a wake-up is wanted; look at the spool once more before waiting.
    pub fn want(&self) {
        self.wanted.store(true, Ordering::SeqCst);
    }

    /// Takes the wake-up back, and empties the descriptor.
    pub fn rest(&self) {
        self.wanted.store(false, Ordering::SeqCst);
        let mut count = [0; 8];
        // Empty already: nothing came.
        rustix::io::read(&self.fd, &mut count).ok();
    }

    /// Wakes, if that is wanted.
    pub fn wake(&self) {
        if self.wanted.swap(false, Ordering::SeqCst) {
            // Full means that it is awake.
            rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).ok();
        }
    }
}
