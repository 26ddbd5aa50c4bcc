//! A sink at work: gets the spool's batches in order, commits now and then, and says how far it is.
//! When it fails it is tried again from its last mark; others are not held back by that.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::batch::{Batch, Images};
use crate::frame;
use crate::intake::Intake;
use crate::sink::Sink;
use crate::told;

/// How long a sink that failed is left alone, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// How often a sink looks whether the daemon ends, once nothing more comes in.
const DRAIN_LOOK: Duration = Duration::from_millis(2);

/// Why a sink stops.
enum End {
    /// The daemon ends.
    Stopped,
    /// It was too far behind and shall go on elsewhere.
    Moved,
}

/// A sink, its name, and what it reads.
pub struct Runner {
    /// Its name: that in checkpoints.
    pub name: String,
    /// The sink.
    pub sink: Box<dyn Sink>,
    /// What it reads.
    pub intake: Arc<Intake>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Runner {{ name: {:?} }}", self.name)
    }
}

impl Runner {
    /// Delivers until the daemon ends; for a thread of its own.
    pub fn run(mut self) {
        let mut pause = PAUSES.0;
        while !self.intake.is_stopping() {
            let begun = Instant::now();
            let error = match self.session() {
                Ok(End::Stopped) => return,
                Ok(End::Moved) => continue,
                Err(error) => error,
            };
            told::add(&self.intake.told.counters.sink_failures, 1);
            self.intake.told.say(format_args!("sink {}: {error}", self.name));
            pause = if begun.elapsed() > PAUSES.1 { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            let until = Instant::now() + pause;
            while Instant::now() < until && !self.intake.is_stopping() {
                std::thread::sleep(PAUSES.0.min(pause));
            }
        }
    }

    /// From the last mark on, until the sink fails, was moved on, or the daemon ends.
    fn session(&mut self) -> io::Result<End> {
        let gone = || io::Error::other("no such sink");
        let (number, mut reader, mut outlet) = self.intake.outlet(&self.name).ok_or_else(gone)?;
        let spool = self.intake.spool_id();
        self.sink.at(spool, reader.position());
        self.sink.resume(&outlet.mark)?;
        let pace = self.sink.pace();
        let mut images = (0, Images::new());
        let mut batch: Option<Batch> = None;
        let mut committed = Instant::now();
        loop {
            if self.intake.was_moved(number, outlet.position) {
                return Ok(End::Moved);
            }
            while reader.has_more() || self.intake.fill(&mut reader)? {
                while !self.sink.is_full() {
                    let Some(bytes) = reader.next() else { break };
                    let head = frame::check(bytes).map_err(io::Error::other)?;
                    if let Some(newer) = self.intake.images(images.0) {
                        images = newer;
                    }
                    match &mut batch {
                        Some(batch) => batch.reopen(head, bytes).map_err(io::Error::other)?,
                        none => *none = Some(Batch::open(bytes).map_err(io::Error::other)?),
                    }
                    let Some(batch) = &batch else { continue };
                    self.sink.at(spool, reader.position());
                    self.sink.take(batch, &images.1)?;
                    outlet.tally.deliver(batch);
                }
                if committed.elapsed() > pace || self.sink.is_full() {
                    break;
                }
            }
            let stopping = self.intake.is_stopping();
            let open = reader.position() > outlet.position;
            let draining = self.intake.is_draining();
            let due = draining || committed.elapsed() >= pace || self.sink.is_full();
            if open && (stopping || due) {
                let base = outlet.position;
                outlet.mark = self.sink.commit()?;
                outlet.position = reader.position();
                committed = Instant::now();
                if !self.intake.delivered(number, base, outlet.clone()) {
                    return Ok(End::Moved);
                }
            }
            if stopping && reader.position() >= self.intake.end() {
                return Ok(End::Stopped);
            }
            if draining && !stopping {
                std::thread::sleep(DRAIN_LOOK);
            } else if !stopping {
                let left = pace.saturating_sub(committed.elapsed());
                let patience = if open { left } else { Duration::from_secs(3600) };
                let _news = self.intake.wait_news(reader.position(), patience);
            }
        }
    }
}
