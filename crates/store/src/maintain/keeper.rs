//! Maintenance inside a daemon: a thread of low priority that looks at every table now and then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use netra_stream::told::Told;

use super::LINGER;
use crate::schema::{TABLES, Table};
use crate::{Error, Result, Store};

/// How often tables are looked at.
const EVERY: Duration = Duration::from_secs(30);
/// How often old rows and files are looked for.
const SELDOM: Duration = Duration::from_secs(600);
/// Small files of a day that are put together.
const SMALL: usize = 24;
/// Commits between two sums of a log.
const COMMITS: u64 = 100;

/// How long rows are kept, and how much of them, by table.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How long.
    pub keep: BTreeMap<String, Duration>,
    /// How many bytes.
    pub limit: BTreeMap<String, u64>,
}

/// Maintains a store until it is dropped.
#[derive(Debug)]
pub struct Keeper {
    ending: Arc<(Mutex<bool>, Condvar)>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Begins.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(store: Arc<Store>, rules: Rules, told: Arc<Told>) -> std::io::Result<Keeper> {
        let (ending, stop) =
            (Arc::<(Mutex<bool>, Condvar)>::default(), Arc::<AtomicBool>::default());
        let work =
            Work { store, rules, told, ending: Arc::clone(&ending), stop: Arc::clone(&stop) };
        let thread = std::thread::Builder::new().name("netra-keeper".to_owned());
        let thread = thread.spawn(move || work.run())?;
        Ok(Keeper { ending, stop, thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        *self.ending.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ending.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            thread.join().ok();
        }
    }
}

struct Work {
    store: Arc<Store>,
    rules: Rules,
    told: Arc<Told>,
    ending: Arc<(Mutex<bool>, Condvar)>,
    stop: Arc<AtomicBool>,
}

impl Work {
    fn run(self) {
        let lower = || {
            // Whoever may not lower their priority works on as they are.
            rustix::process::nice(10).ok();
        };
        lower();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("netra-keeper")
            .on_thread_start(lower)
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        let mut seldom = Instant::now();
        while !self.rest(EVERY) {
            let rarely = seldom.elapsed() >= SELDOM;
            if rarely {
                seldom = Instant::now();
            }
            runtime.block_on(self.restore());
            for table in TABLES.iter() {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(error) = runtime.block_on(self.table(table, rarely)) {
                    self.told.say(format_args!("keeping the store: {error}"));
                }
            }
        }
    }

    /// What was set aside enters its table, whoever set it aside.
    async fn restore(&self) {
        let say =
            |what: &dyn std::fmt::Display| self.told.say(format_args!("keeping the store: {what}"));
        let restored = match self.store.restore_all().await {
            Ok(restored) => restored,
            Err(error) => return say(&error),
        };
        for (table, restored) in restored {
            match restored {
                Ok(rows) => {
                    say(&format_args!("{table}: {rows} rows that were set aside are in it"))
                }
                Err(error) => say(&error),
            }
        }
    }

    async fn table(&self, table: &'static Table, rarely: bool) -> Result<()> {
        let name = table.name;
        self.store.checkpoint(name, COMMITS).await?;
        match self.store.compact(name, SMALL).await {
            Ok(compacted) => {
                for repaired in compacted.repaired {
                    self.told.say(format_args!("{repaired}"));
                }
            }
            // Another hub had the same idea.
            Err(Error::Overtaken { .. }) => {}
            Err(error) => return Err(error),
        }
        if rarely {
            let keep = self.rules.keep.get(name).copied();
            let limit = self.rules.limit.get(name).copied();
            let (files, bytes) = self.store.expire(name, keep, limit).await?;
            if files > 0 {
                self.told.say(format_args!("{name}: {files} files of {bytes} bytes have expired"));
            }
            self.store.clean(name, LINGER).await?;
        }
        Ok(())
    }

    /// Waits; true if it is to end.
    fn rest(&self, time: Duration) -> bool {
        let ending = self.ending.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ending.1.wait_timeout_while(ending, time, |ending| !*ending);
        let (ending, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *ending
    }
}
