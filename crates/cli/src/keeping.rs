//! The sinks of a daemon that keep everything in a store.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use netra_store::maintain::{Keeper, Rules};
use netra_store::schema;
use netra_store::{Ingest, Place, Store};
use netra_stream::batch::{Batch, Images};
use netra_stream::daemon::StoreSettings;
use netra_stream::sink::{Mark, Sink};
use netra_stream::told::Told;

/// The stores of a daemon, by place: whoever asks there sees what is not in a file yet.
#[derive(Debug)]
pub(crate) struct Stores {
    runtime: tokio::runtime::Runtime,
    open: Mutex<BTreeMap<String, Arc<Store>>>,
}

impl Stores {
    /// None yet.
    pub(crate) fn new() -> io::Result<Stores> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        Ok(Stores { runtime, open: Mutex::default() })
    }

    /// The store at a place; the user's own if none is named.
    pub(crate) fn at(&self, place: Option<&str>) -> io::Result<Arc<Store>> {
        let place = place.map_or_else(Place::usual, Place::parse)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&place.to_string()) {
            return Ok(Arc::clone(store));
        }
        let store = Arc::new(Store::create(place)?);
        open.insert(store.place().to_string(), Arc::clone(&store));
        Ok(store)
    }

    /// A sink that keeps everything there.
    pub(crate) fn sink(
        &self,
        settings: &StoreSettings,
        told: &Arc<Told>,
    ) -> io::Result<Box<dyn Sink>> {
        for name in settings.keep.keys().chain(settings.limit.keys()) {
            if schema::table(name).is_none() {
                let what = format!("[sink] keep, limit: no table is called {name}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
        }
        let store = self.at(settings.place.as_deref())?;
        let handle = self.runtime.handle().clone();
        let ingest = Ingest::new(Arc::clone(&store), handle, Arc::clone(told), settings.every);
        let rules = Rules { keep: settings.keep.clone(), limit: settings.limit.clone() };
        let keeper = match settings.maintain {
            true => Some(Keeper::start(store, rules, Arc::clone(told))?),
            false => None,
        };
        Ok(Box::new(Kept { ingest, _keeper: keeper }))
    }
}

/// A sink together with who keeps its store small.
struct Kept {
    ingest: Ingest,
    _keeper: Option<Keeper>,
}

impl Sink for Kept {
    fn at(&mut self, spool: u64, position: u64) {
        self.ingest.at(spool, position);
    }

    fn pace(&self) -> std::time::Duration {
        self.ingest.pace()
    }

    fn is_full(&self) -> bool {
        self.ingest.is_full()
    }

    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()> {
        self.ingest.take(batch, images)
    }

    fn commit(&mut self) -> io::Result<Mark> {
        self.ingest.commit()
    }

    fn resume(&mut self, mark: &[u8]) -> io::Result<()> {
        self.ingest.resume(mark)
    }
}
