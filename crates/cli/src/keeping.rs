//! The sinks of a daemon that keep everything in a store.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use netra_store::maintain::{Keeper, Rules};
use netra_store::schema;
use netra_store::{Ingest, Place, Store};
use netra_stream::batch::{Batch, Images};
use netra_stream::daemon::{Settings, SinkKind, StoreSettings};
use netra_stream::sink::{Mark, Sink};
use netra_stream::told::Told;

/// How often a run's rows are committed.
const PACE: std::time::Duration = std::time::Duration::from_secs(5);

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

    /// Opens a door to the store of a daemon with these settings; it is shut when what is given back goes.
    pub(crate) fn door(&self, settings: &Settings) -> anyhow::Result<Option<Opened>> {
        let places = settings.sinks.iter().filter_map(|sink| match &sink.kind {
            SinkKind::Store(store) => Some(store.place.as_deref()),
            _ => None,
        });
        let (Some(door), Some(place)) = (&settings.postgres, { places }.next()) else {
            return Ok(None);
        };
        let store = self.at(place)?;
        let answering = self.runtime.block_on(crate::door::open(door, store))?;
        let task = self.runtime.spawn(async {
            if let Err(error) = answering.await {
                eprintln!("netra: {}", crate::sentence::of(&error));
            }
        });
        Ok(Some(Opened(task)))
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

/// A door that is open.
#[derive(Debug)]
pub(crate) struct Opened(tokio::task::JoinHandle<()>);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a run sees goes into a store while it runs; what its processes leave comes with its log. It is a favour: when the store
/// can not be written it is left alone, and the log brings all that is missing.
pub(crate) struct Favour {
    ingest: Option<Ingest>,
    _keeper: Option<Keeper>,
    /// What keeps it, too; it ends last.
    _runtime: tokio::runtime::Runtime,
}

impl Favour {
    /// Begins with a store, which is made where there is none.
    pub(crate) fn start(store: Arc<Store>, told: &Arc<Told>) -> io::Result<Favour> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let ingest = Ingest::new(Arc::clone(&store), handle, Arc::clone(told), PACE).before_log();
        let keeper = Keeper::start(store, Rules::default(), Arc::clone(told))?;
        Ok(Favour { ingest: Some(ingest), _keeper: Some(keeper), _runtime: runtime })
    }

    /// Does it, as long as it works.
    fn attempt<T: Default>(&mut self, what: impl FnOnce(&mut Ingest) -> io::Result<T>) -> T {
        let done = self.ingest.as_mut().map(what);
        match done {
            Some(Ok(done)) => done,
            Some(Err(error)) => {
                self.ingest = None;
                eprintln!("netra: the store gets the rest when the run has ended: {error}");
                T::default()
            }
            None => T::default(),
        }
    }
}

impl Sink for Favour {
    fn at(&mut self, spool: u64, position: u64) {
        if let Some(ingest) = &mut self.ingest {
            ingest.at(spool, position);
        }
    }

    fn pace(&self) -> std::time::Duration {
        PACE
    }

    fn is_full(&self) -> bool {
        self.ingest.as_ref().is_some_and(Ingest::is_full)
    }

    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()> {
        self.attempt(|ingest| ingest.take(batch, images));
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Mark> {
        Ok(self.attempt(Ingest::commit))
    }

    fn resume(&mut self, mark: &[u8]) -> io::Result<()> {
        self.attempt(|ingest| ingest.resume(mark));
        Ok(())
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
