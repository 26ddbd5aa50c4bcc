//! Keeping: what has gathered is made durable together, and the state is kept now and then.

use std::collections::BTreeSet;
use std::io;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use netra_event::frame::Producer;

use super::restore::image_name;
use super::{CHECKPOINT, Intake};
use crate::ledger::{Checkpoint, audit, in_flight};
use crate::told;

/// How often a checkpoint is made while something happens.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
/// Things that do not add up of which is remembered that they were said.
const BREACHES: usize = 10_000;
/// Lines that are said of them at once.
const SAID: u64 = 10;
/// How long frames gather before they are synced together.
const GATHER: Duration = Duration::from_millis(3);

impl Intake {
    /// Makes durable what has gathered.
    ///
    /// # Errors
    /// The disk failed.
    pub fn sync(&self) -> io::Result<()> {
        let Some((file, until)) = self.lock().spool.pending() else {
            return self.lock().spool.check();
        };
        let result = file.sync();
        self.lock().spool.synced(until, &result);
        self.durable.notify_all();
        result
    }

    /// Keeps the state, and lets go of frames that nobody needs any more.
    ///
    /// # Errors
    /// The disk failed; the last checkpoint still stands, and the next one is due.
    pub fn checkpoint(&self) -> io::Result<()> {
        let (state, dirty) = {
            let mut inner = self.lock();
            if !inner.changed {
                return Ok(());
            }
            inner.changed = false;
            (inner.state(), std::mem::take(&mut inner.dirty))
        };
        self.look_at(&state);
        if let Err(error) = self.write_down(&state, &dirty) {
            let mut inner = self.lock();
            inner.changed = true;
            inner.dirty.extend(dirty);
            return Err(error);
        }
        told::add(&self.told.counters.checkpoints, 1);
        let mut inner = self.lock();
        let oldest = state.oldest_needed();
        inner.spool.trim(oldest)?;
        told::set(&self.told.counters.spool_bytes, inner.spool.bytes());
        for producer in inner.forget(oldest) {
            self.storage.remove(&image_name(&producer)).ok();
        }
        for waker in &inner.wakers {
            waker.wake();
        }
        Ok(())
    }

    /// Images first: frames from which they could be made again go when the state is kept.
    fn write_down(&self, state: &Checkpoint, dirty: &BTreeSet<Producer>) -> io::Result<()> {
        // Everything that the state speaks of must be durable before the state is.
        self.sync()?;
        for producer in dirty {
            let image =
                self.lock().images.as_ref().and_then(|images| images.get(producer).cloned());
            if let Some(image) = image {
                self.storage.replace(&image_name(producer), &image.pack())?;
            }
        }
        self.storage.replace(CHECKPOINT, &state.pack())
    }

    /// Checks that everything adds up: each thing that does not is said once, and counted.
    fn look_at(&self, state: &Checkpoint) {
        for outlet in &state.outlets {
            let metric = format!("netra_stream_in_flight_events{{sink=\"{}\"}}", outlet.name);
            self.told.set(&metric, i64::try_from(in_flight(state, outlet)).unwrap_or(i64::MAX));
        }
        let mut known = self.breaches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fresh = 0_u64;
        for breach in audit(state) {
            if known.len() >= BREACHES
                || !known.insert((breach.producer, breach.sink.clone(), breach.rule))
            {
                continue;
            }
            fresh += 1;
            if fresh <= SAID {
                let pid = breach.producer.pid;
                let sink = breach.sink.map_or_else(String::new, |name| format!(" at sink {name}"));
                let says = breach.says;
                self.told.say(format_args!(
                    "the ledger does not add up for process {pid}{sink}: {says}"
                ));
            }
        }
        if fresh > SAID {
            self.told.say(format_args!("and for {} more", fresh - SAID));
        }
        told::add(&self.told.counters.ledger_broken, fresh);
    }

    /// Syncs and keeps checkpoints until the daemon ends; for a thread of its own. It sleeps while
    /// nothing happens.
    pub fn keep(&self) {
        let mut kept = Instant::now();
        loop {
            let stopping = self.wait_for_work(kept);
            if !stopping {
                std::thread::sleep(GATHER);
            }
            let moved = self.leave_behind();
            let mut result = self.sync().and(moved);
            let due = stopping || kept.elapsed() >= CHECKPOINT_EVERY;
            if matches!(result, Ok(moved) if moved || due) {
                kept = Instant::now();
                result = self.checkpoint().map(|()| false);
            }
            if let Err(error) = result {
                self.told.say(format_args!("the spool can not be kept: {error}"));
                std::thread::sleep(CHECKPOINT_EVERY);
            }
            if stopping {
                return;
            }
        }
    }

    /// Waits until something is to be synced or a checkpoint is due; true if the daemon ends.
    fn wait_for_work(&self, kept: Instant) -> bool {
        let mut inner = self.lock();
        while inner.spool.pending().is_none() && !inner.stopping && !inner.has_laggards() {
            if !inner.changed {
                inner = self.news.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let left = CHECKPOINT_EVERY.saturating_sub(kept.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.news.wait_timeout(inner, left);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        inner.stopping
    }
}
