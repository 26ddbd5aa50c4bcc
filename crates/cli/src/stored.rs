//! Stored jobs: which store is meant, and a job of it as what the analysis takes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use netra_analyse::Job;
use netra_event::Setting;
use netra_show::load;
use netra_store::recall::Recall;
use netra_store::{Place, Store, import};
use tokio::runtime::Runtime;

use crate::setting;

/// Which store.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Which {
    /// The store: a directory or the URL of a bucket [default: NETRA_STORE, else your own]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
}

impl Which {
    /// Where it lies.
    pub(crate) fn place(&self) -> Result<Place> {
        place(self.store.as_deref())
    }

    /// Opens it. Whoever can read its files may see all that is in them.
    pub(crate) fn open(&self) -> Result<Stored> {
        Ok(Stored { store: Arc::new(Store::open(self.place()?)?), runtime: runtime()? })
    }

    /// Opens it, or begins one.
    pub(crate) fn create(&self) -> Result<Stored> {
        let runtime = runtime()?;
        Ok(Stored { store: Arc::new(Store::create(self.place()?)?), runtime })
    }
}

/// Where the store lies that was named, or else is set, or else is the user's own.
pub(crate) fn place(named: Option<&str>) -> Result<Place> {
    let set = setting::value(Setting::Store).map(|text| text.to_string_lossy().into_owned());
    Ok(match named.map(ToOwned::to_owned).or(set) {
        Some(text) => Place::parse(&text)?,
        None => Place::usual()?,
    })
}

fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().context("starting threads")
}

/// An open store, and what runs it.
pub(crate) struct Stored {
    pub(crate) store: Arc<Store>,
    pub(crate) runtime: Runtime,
}

impl Stored {
    /// The job that a word means: a key, its beginning, or the scheduler's number.
    pub(crate) fn find(&self, word: &str) -> Result<Recall> {
        Ok(self.runtime.block_on(Recall::find_in(&self.store, word))?)
    }

    /// Every job that a word fits, as what the analysis takes.
    pub(crate) fn jobs(&self, word: &str) -> Result<Vec<Job>> {
        let all = self.runtime.block_on(Recall::all_in(&self.store, word))?;
        if all.is_empty() {
            return Err(netra_store::Error::NoJob { word: word.to_owned() }.into());
        }
        let loaded = all.iter().map(|recall| self.runtime.block_on(load::stored(recall)));
        Ok(loaded.collect::<netra_store::Result<_>>()?)
    }

    /// All that the analysis takes of it.
    pub(crate) fn job(&self, word: &str) -> Result<Job> {
        let recall = self.find(word)?;
        Ok(self.runtime.block_on(load::stored(&recall))?)
    }
}

impl Stored {
    /// Imports a log; gives its job's key, unless nothing of it could be taken.
    pub(crate) fn keep(&self, log: &Path) -> Result<Option<String>> {
        let (sources, _) = import::find(&[log.to_owned()]);
        let (mut job, mut refused) = (None, None);
        let mut each = |_: &import::Source, fate: import::Fate| match fate {
            import::Fate::Taken { jobs, .. } => job = jobs.into_iter().next(),
            import::Fate::Known { job: known } => job = known,
            import::Fate::Refused { why } => refused = Some(why),
            _ => {}
        };
        let read = Arc::default();
        self.runtime.block_on(import::import(&self.store, sources, &read, &mut each))?;
        match refused {
            Some(why) => Err(anyhow::Error::msg(why)),
            None => Ok(job),
        }
    }
}

/// Whether nothing is known to be missing from a stored job.
pub(crate) fn is_complete(job: &Job) -> bool {
    job.partial.is_empty() && job.remarks.is_empty()
}

/// The same for who shows nothing of the job itself: what is missing is said.
pub(crate) fn is_said_complete(job: &Job) -> bool {
    for module in &job.partial {
        eprintln!("netra: {}: {} ran out of memory and counts only part", job.source, module.0);
    }
    for remark in &job.remarks {
        eprintln!("netra: {}: {remark}", job.source);
    }
    is_complete(job)
}
