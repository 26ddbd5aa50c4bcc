//! What all questions of a program share: memory, space to spill, and how long one may take.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use netra_event::Bytes;

use super::analysis::{Analyses, Settings};
use super::error::{Error, Kind};

/// How much questions may cost.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Memory of all questions that run at a time.
    pub memory: Bytes,
    /// Space on disk for what does not fit into it.
    pub spill: Bytes,
    /// Where that space is; the system's temporary directory if nobody says.
    pub spill_folder: Option<PathBuf>,
    /// How long one question may take.
    pub timeout: Option<Duration>,
    /// Analysis modules: which, and what one may cost.
    pub analysis: Settings,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: Bytes(1 << 30),
            spill: Bytes(20 << 30),
            spill_folder: None,
            timeout: None,
            analysis: Settings::usual(),
        }
    }
}

/// The ground that sessions stand on. One for a program: its sessions share the limits.
#[derive(Debug, Clone)]
pub struct Ground {
    pub(super) runtime: Arc<RuntimeEnv>,
    pub(super) timeout: Option<Duration>,
    /// Parts that a question works on at a time.
    pub(super) partitions: usize,
    pub(super) analyses: Arc<Analyses>,
}

/// Each part of a question needs room of its own, or sorting spills at every turn and has none left to merge.
const ROOM: usize = 64 << 20;

impl Ground {
    /// Sets the limits.
    pub fn new(limits: &Limits) -> super::Result<Ground> {
        let memory = usize::try_from(limits.memory.0).unwrap_or(usize::MAX);
        // Who took most is named in the error.
        let pool = TrackConsumersPool::new(FairSpillPool::new(memory), NonZeroUsize::MIN);
        let place = match &limits.spill_folder {
            Some(folder) => DiskManagerMode::Directories(vec![folder.clone()]),
            None => DiskManagerMode::OsTmpDirectory,
        };
        let disk = DiskManagerBuilder::default()
            .with_mode(place)
            .with_max_temp_directory_size(limits.spill.0);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| Error::new(Kind::Store, format!("setting limits: {error}")))?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let partitions = cores.min(memory / ROOM).max(1);
        let analyses = Arc::new(Analyses::new(limits.analysis.clone()));
        Ok(Ground { runtime, timeout: limits.timeout, partitions, analyses })
    }

    /// The analysis modules that can be named.
    #[must_use]
    pub fn analyses(&self) -> &Analyses {
        &self.analyses
    }
}
