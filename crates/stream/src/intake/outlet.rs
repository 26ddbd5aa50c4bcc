//! What goes: sinks read the spool, each at its own place, and say how far they have come.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use netra_event::frame::Producer;

use super::inner::Inner;
use super::{Intake, Waker};
use crate::batch::{Account, Images, Process};
use crate::ledger::{Outlet, Producing};
use crate::spool::Reader;
use crate::told;

impl Intake {
    /// A reader for a sink, from where it stands, with its mark and its number.
    #[must_use]
    pub fn outlet(&self, name: &str) -> Option<(usize, Reader, Outlet)> {
        let inner = self.lock();
        let number = inner.outlets.iter().position(|outlet| outlet.name == name)?;
        let outlet = inner.outlets.get(number)?.clone();
        Some((number, inner.spool.reader(outlet.position), outlet))
    }

    /// A descriptor that becomes readable when something new is in the spool.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub fn waker(&self) -> io::Result<Arc<Waker>> {
        use rustix::event::{EventfdFlags, eventfd};
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let waker = Arc::new(Waker { fd, wanted: AtomicBool::new(false) });
        self.lock().wakers.push(Arc::clone(&waker));
        Ok(waker)
    }

    /// Fills a reader with what is new; false if there is nothing.
    ///
    /// # Errors
    /// The spool can not be read.
    pub fn fill(&self, reader: &mut Reader) -> io::Result<bool> {
        let piece = reader.plan(&self.lock().spool);
        let Some(piece) = piece else {
            reader.rest();
            return Ok(false);
        };
        reader.fill(&piece)?;
        Ok(true)
    }

    /// Waits for something new behind a position; false if nothing came in time or the daemon ends.
    #[must_use]
    pub fn wait_news(&self, position: u64, patience: Duration) -> bool {
        let inner = self.lock();
        let waiting =
            |inner: &mut Inner| inner.spool.end() <= position && !inner.draining && !inner.stopping;
        let waited = self.news.wait_timeout_while(inner, patience, waiting);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.spool.end() > position
    }

    /// What events refer to, if it is newer than `version`.
    #[must_use]
    pub fn images(&self, version: u64) -> Option<(u64, Images)> {
        let inner = self.lock();
        let images = inner.images.as_ref().filter(|_| inner.version != version)?;
        Some((inner.version, images.clone()))
    }

    /// The last words about processes of which nothing more comes: who each was, and its account.
    #[must_use]
    pub fn ended(&self) -> BTreeMap<Producer, (Process, Account)> {
        let inner = self.lock();
        let ended = inner.book.producers.iter().filter(|(_, one)| one.is_final());
        let words = |one: &Producing| Some((one.process.clone()?, one.account.clone()?));
        ended.filter_map(|(&producer, one)| Some((producer, words(one)?))).collect()
    }

    /// A sink has come further than `base`: everything before `outlet.position` is durable there. False if it
    /// was moved on meanwhile; then it begins again from where it stands.
    #[must_use]
    pub fn delivered(&self, number: usize, base: u64, outlet: Outlet) -> bool {
        let mut inner = self.lock();
        let position = outlet.position;
        // What was passed over for it and arrived all the same, has arrived.
        let stands = |place: &Outlet| place.position == base || place.position <= position;
        if !inner.outlets.get(number).is_some_and(stands) {
            return false;
        }
        if let Some(place) = inner.outlets.get_mut(number) {
            let before: u64 = place.tally.producers.values().map(|got| got.events()).sum();
            let after: u64 = outlet.tally.producers.values().map(|got| got.events()).sum();
            told::add(&self.told.counters.events_delivered, after.saturating_sub(before));
            *place = outlet;
            inner.changed = true;
            self.news.notify_all();
        }
        let lag = inner.spool.end().saturating_sub(position);
        if let Some(outlet) = inner.outlets.get(number) {
            let lag = i64::try_from(lag).unwrap_or(i64::MAX);
            self.told.set(&format!("netra_stream_lag_bytes{{sink=\"{}\"}}", outlet.name), lag);
        }
        true
    }

    /// Whether a sink was moved on, past where it last said it was.
    #[must_use]
    pub fn was_moved(&self, number: usize, base: u64) -> bool {
        self.lock().outlets.get(number).is_some_and(|outlet| outlet.position != base)
    }

    /// Whether every sink has everything.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let inner = self.lock();
        let end = inner.spool.end();
        inner.outlets.iter().all(|outlet| outlet.position >= end)
    }
}
