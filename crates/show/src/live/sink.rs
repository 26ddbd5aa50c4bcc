//! Live jobs as a sink of a daemon: every batch of its spool comes here, none is missed.

use std::io;
use std::sync::Arc;

use netra_stream::batch::{Batch, Images};
use netra_stream::clock::Clock;
use netra_stream::sink::{Mark, Sink};

use super::Live;

/// Hands batches of a daemon to [`Live`].
#[derive(Debug)]
pub struct Watching {
    live: Arc<Live>,
    clock: Arc<Clock>,
}

impl Watching {
    /// Adds up here, by this clock.
    #[must_use]
    pub fn new(live: Arc<Live>, clock: Arc<Clock>) -> Watching {
        Watching { live, clock }
    }
}

impl Sink for Watching {
    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()> {
        self.live.take(batch, images, self.clock.now());
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Mark> {
        // Nothing of it is durable: what was before the last start is in the store.
        Ok(Mark::new())
    }

    fn resume(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
