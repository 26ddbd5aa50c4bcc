//! Analysis modules: a file `NAME.py` that declares what it asks of the store, which parameters it takes, and makes a
//! table of it.
//!
//! [`Analyses`] finds them in directories whose owner the reader of the store trusts, and beside them those that netra brings
//! along. A run asks the module's inputs through the caller's own session, so that it sees the caller's rows, and gives them to
//! a Python process of its own that can do nothing but compute: `harness.py` confines it, `process` bounds its time,
//! memory and output. What was computed before from the same inputs is not computed again (`cache`).
//!
//! In SQL it is the table function `analyse('NAME', 'job=4711', …)` (`function`); every door has it thereby.

mod cache;
mod declared;
mod file;
mod function;
mod input;
mod process;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use netra_event::Bytes;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::error::{Error, Kind};
use super::session::Session;
use cache::Cache;
use file::Module;

pub use declared::{Declared, Parameter};
pub(super) use function::{NAME, Results, refuse, resolve};
pub use value::Type;

/// Where modules are, what runs them, and what one run may cost.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Directories, the first that has a module counts.
    pub folders: Vec<PathBuf>,
    /// The interpreter; it has pandas and pyarrow.
    pub python: PathBuf,
    /// How long a run may take.
    pub time: Duration,
    /// Memory that it may have.
    pub memory: Bytes,
    /// How much it may be given.
    pub input: Bytes,
    /// How much it may give.
    pub output: Bytes,
    /// Runs at a time; others wait.
    pub at_once: usize,
}

impl Settings {
    /// Those of `NETRA_ANALYSIS` (directories with colons between them), else the user's own directory and the site's; the
    /// interpreter of `NETRA_PYTHON`, else `python3`.
    #[must_use]
    pub fn usual() -> Settings {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = || set("HOME").map(|home| PathBuf::from(home).join(".config"));
        let own = set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
        let usual = || {
            let own = own.map(|own| own.join("netra/analysis"));
            own.into_iter().chain([PathBuf::from("/etc/netra/analysis")]).collect()
        };
        Settings {
            folders: match set("NETRA_ANALYSIS") {
                Some(folders) => std::env::split_paths(&folders).collect(),
                None => usual(),
            },
            python: set("NETRA_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from),
            time: Duration::from_secs(25),
            memory: Bytes(2 << 30),
            input: Bytes(256 << 20),
            output: Bytes(64 << 20),
            at_once: 2,
        }
    }
}

/// A module as people see it in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// What it is called.
    pub name: String,
    /// Where it stands; those that netra brings along stand nowhere.
    pub path: Option<PathBuf>,
    /// What it declares, or why it can not be used.
    pub declared: Result<Arc<Declared>, Error>,
}

/// The table that a run made.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) schema: SchemaRef,
    pub(super) rows: Vec<RecordBatch>,
}

/// The modules that a program knows, and what they have computed. One for all its sessions.
#[derive(Debug)]
pub struct Analyses {
    settings: Settings,
    /// What modules declare, by the sum of their text.
    declared: Mutex<BTreeMap<[u8; 32], Arc<Declared>>>,
    made: Cache,
    turns: Semaphore,
}

impl Analyses {
    /// With these settings. Nothing is looked at before somebody asks.
    #[must_use]
    pub fn new(settings: Settings) -> Analyses {
        let made = Cache::new(settings.output);
        let turns = Semaphore::new(settings.at_once);
        Analyses { settings, declared: Mutex::default(), made, turns }
    }

    /// All modules, by name.
    pub async fn list(&self) -> Vec<Listed> {
        let mut all = Vec::new();
        for (name, found) in file::all(&self.settings.folders) {
            let (path, declared) = match found {
                Ok(module) => (module.path.clone(), self.declared(&module).await),
                Err(error) => (None, Err(error)),
            };
            all.push(Listed { name, path, declared });
        }
        all
    }

    /// Runs a module over what this session may see. Parameters are `name=value`.
    async fn run(
        &self,
        session: &Session,
        name: &str,
        parameters: &[String],
    ) -> Result<Arc<Made>, Error> {
        let module = file::find(&self.settings.folders, name)?;
        let declared = self.declared(&module).await?;
        let values = declared.values(name, parameters)?;
        let mut given = Vec::new();
        for (input, asks) in &declared.inputs {
            let statement = input::statement(session, asks, &values)
                .map_err(|error| about(name, input, error))?;
            let most = self.settings.input;
            input::write(session, statement, &mut given, most)
                .await
                .map_err(|error| about(name, input, error))?;
        }
        let head = json!({
            "do": "run",
            "path": module.place(),
            "source": module.source,
            "inputs": declared.inputs.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "parameters": declared.arguments(&values),
            "limits": { "seconds": self.settings.time.as_secs(), "memory": self.settings.memory.0 },
        });
        let mut request = head.to_string().into_bytes();
        request.push(b'\n');
        request.extend_from_slice(&given);
        drop(given);
        let sum: [u8; 32] = Sha256::digest(&request).into();
        if let Some(made) = self.made.get(&sum) {
            return Ok(made);
        }
        let answer = self.compute(&module, request).await?;
        let made = Arc::new(process::table(&answer).map_err(|says| module.failed(&says))?);
        self.made.put(sum, answer.len(), &made);
        Ok(made)
    }

    /// What a module declares. It is read, not run.
    async fn declared(&self, module: &Module) -> Result<Arc<Declared>, Error> {
        let sum: [u8; 32] = Sha256::digest(module.source.as_bytes()).into();
        let known = || self.declared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(declared) = known().get(&sum) {
            return Ok(Arc::clone(declared));
        }
        let head = json!({ "do": "describe", "path": module.place(), "source": module.source });
        let answer = self.compute(module, format!("{head}\n").into_bytes()).await?;
        let declared = Declared::read(&answer).map_err(|says| module.failed(&says))?;
        let declared = Arc::new(declared);
        known().insert(sum, Arc::clone(&declared));
        Ok(declared)
    }

    /// What the module's process answers to a request, behind its first line if that says nothing more.
    async fn compute(&self, module: &Module, request: Vec<u8>) -> Result<Vec<u8>, Error> {
        let closed = |_| Error::new(Kind::Stopped, "the program ends");
        let turn = self.turns.acquire().await.map_err(closed)?;
        let answer = process::run(&self.settings, request).await;
        drop(turn);
        answer.map_err(|says| module.failed(&says))
    }
}

/// An error of a module's question.
fn about(name: &str, input: &str, error: Error) -> Error {
    let message = format!("analysis {name}, input {input}: {}", error.message);
    Error { message, ..error }
}
