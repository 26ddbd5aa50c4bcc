//! What all processes of a run recorded, whatever layer it was in: the counters of all their logs, and
//! the segments behind them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_darshan::{Record, counter, read};
use netra_event::segment::View;
use netra_event::{Event, Function, Layer, Loss, Module};

/// Calls of a function, and the bytes of those that succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Times it was called.
    pub calls: u64,
    /// Bytes that its events say.
    pub bytes: u64,
}

/// The logs of a run.
#[derive(Debug, Default)]
pub struct Job {
    counters: BTreeMap<(Module, String), BTreeMap<&'static str, i64>>,
    segments: Vec<Vec<u8>>,
}

impl Job {
    /// Reads every log below a folder. Counters of one name are added up.
    pub fn read(folder: &Path) -> Result<Job> {
        let mut job = Job::default();
        for path in logs(folder)? {
            job.add(&path).with_context(|| format!("read {}", path.display()))?;
        }
        Ok(job)
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        let log = read::Log::open(path)?;
        ensure!(log.damage().is_empty(), "damaged: {:?}", log.damage());
        for module in log.modules() {
            let (Some(table), Some(_)) = (
                counter::current(module),
                netra_darshan::record::layout(module, counter::version(module)),
            ) else {
                continue;
            };
            let mut records = log.records(module);
            while let Some(record) = records.next_record() {
                let name = log.names().get(record.id()).context("a record without a name")?;
                let name = String::from_utf8_lossy(name).into_owned();
                let Record::Counters(counters) = record else { continue };
                let sum = self.counters.entry((module, name)).or_default();
                for (&counter, value) in table.int.iter().zip(counters.ints) {
                    *sum.entry(counter).or_default() += value;
                }
            }
            ensure!(records.damage().is_empty(), "damaged: {:?}", records.damage());
        }
        let section = log.section();
        ensure!(section.damage().is_empty(), "damaged: {:?}", section.damage());
        for block in section.blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT) {
            self.segments.push(block.bytes().map_err(|damage| anyhow::anyhow!("{damage:?}"))?);
        }
        Ok(())
    }

    /// A counter of a record; 0 if there is no such record.
    #[must_use]
    pub fn counter(&self, module: Module, name: &str, counter: &str) -> i64 {
        let record = self.counters.get(&(module, name.to_owned()));
        record.and_then(|record| record.get(counter)).copied().unwrap_or(0)
    }

    /// The names of a module's records.
    pub fn names(&self, module: Module) -> impl Iterator<Item = &str> {
        let mine = self.counters.keys().filter(move |(own, _)| *own == module);
        mine.map(|(_, name)| name.as_str())
    }

    /// A counter over all records of a module.
    #[must_use]
    pub fn total(&self, module: Module, counter: &str) -> i64 {
        self.names(module).map(|name| self.counter(module, name, counter)).sum()
    }

    /// The segments.
    pub fn segments(&self) -> impl Iterator<Item = View<'_>> {
        self.segments.iter().filter_map(|bytes| View::new(bytes).ok())
    }

    /// The events of all processes.
    pub fn events(&self) -> impl Iterator<Item = (View<'_>, Event)> {
        self.segments().flat_map(|view| {
            view.lanes().flat_map(move |lane| lane.events().map(move |(_, event)| (view, event)))
        })
    }

    /// Calls and bytes of a layer's functions, by rank.
    #[must_use]
    pub fn tallies(&self, layer: Layer) -> BTreeMap<u32, BTreeMap<Function, Tally>> {
        let mut ranks: BTreeMap<u32, BTreeMap<Function, Tally>> = BTreeMap::new();
        let known = |code: u16| Function::from_code(code).filter(|known| known.layer() == layer);
        for view in self.segments() {
            let rank = ranks.entry(view.rank().unwrap_or(0)).or_default();
            for lane in view.lanes() {
                for (function, calls) in
                    lane.calls().filter_map(|(code, calls)| Some((known(code)?, calls)))
                {
                    rank.entry(function).or_default().calls += calls;
                }
                for (_, event) in lane.events().filter(|(_, event)| !event.failed) {
                    if let Some(function) = known(event.code) {
                        rank.entry(function).or_default().bytes += event.length;
                    }
                }
            }
        }
        ranks.retain(|_, functions| !functions.is_empty());
        ranks
    }

    /// Events that were dropped for any reason but a setting.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        let lanes = self.segments().flat_map(|view| view.lanes());
        let reasons = |reason: &&Loss| **reason != Loss::Excluded;
        lanes
            .map(|lane| {
                Loss::ALL.iter().filter(reasons).map(|&loss| lane.dropped(loss).0).sum::<u64>()
            })
            .sum()
    }
}

fn logs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("look into {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(logs(&path)?);
        } else if path.extension().is_some_and(|end| end == "darshan") {
            found.push(path);
        }
    }
    Ok(found)
}
