//! The wish that a daemon ends, which threads in `poll` and threads that look now and then both see.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// The wish to stop.
#[derive(Debug)]
pub struct Stop {
    fd: OwnedFd,
    set: AtomicBool,
}

impl Stop {
    /// Nobody wishes it yet.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn new() -> io::Result<Stop> {
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Stop { fd, set: AtomicBool::new(false) })
    }

    /// Whether it is wished.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Wishes it.
    pub fn set(&self) {
        self.set.store(true, Ordering::Release);
        // It can only be full of wishes.
        rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).ok();
    }

    /// Readable once it is wished.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}
