//! A run in the shape of the authors' HMMER case: four processes read a data base line by line through
//! streams and compute something for each, half a million reads a second together. What recording and
//! streaming all of it costs them, and the node beside them.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::site::{Running, Site, ended};

const RANKS: usize = 4;
/// Lines that each reads, and how often it goes over each: that a line takes about 2.8 µs of processor time, so
/// that two processors make more than half a million a second beside the daemons.
const LINES: u64 = 400_000;
const WORK: u64 = 24;
/// Pairs of runs; the one that disturbed least counts.
const ROUNDS: usize = 3;

/// What came of it.
pub(super) struct Search {
    /// Processor seconds of all ranks, without and with the library and a daemon.
    pub(super) bare: f64,
    pub(super) live: f64,
    /// Processor seconds of the node.
    pub(super) node: f64,
    /// Events a second, while the ranks ran.
    pub(super) rate: f64,
}

pub(super) fn measure(site: &Site, node: &Running) -> Result<Search> {
    let program = Site::program("search")?;
    let data = site.folder.join("sequences");
    let line =
        "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVVHSLAKWKRQTLG\n";
    fs::write(&data, line.repeat(20_000))?;
    let start = |job: Option<&str>| -> Result<Vec<Child>> {
        (0..RANKS)
            .map(|rank| {
                let mut command = Command::new(&program);
                command.arg(&data).args([LINES.to_string(), WORK.to_string()]);
                command.env("PMI_RANK", rank.to_string()).stdout(Stdio::null());
                if let Some(job) = job {
                    site.record(&mut command, job);
                }
                command.spawn().context("starting a rank")
            })
            .collect()
    };
    let mut best: Option<Search> = None;
    for round in 0..ROUNDS {
        let bare = start(None)?.iter_mut().map(ended).sum::<Result<f64>>()?;
        let (job, before, began) = (format!("search{round}"), node.seconds()?, Instant::now());
        let live = start(Some(&job))?.iter_mut().map(ended).sum::<Result<f64>>()?;
        let took = began.elapsed().as_secs_f64();
        let events = site.settle(&job, RANKS)?;
        let node = node.seconds()? - before;
        let found = Search { bare, live, node, rate: events as f64 / took };
        if best.as_ref().is_none_or(|best| found.live / found.bare < best.live / best.bare) {
            best = Some(found);
        }
    }
    best.context("nothing was measured")
}
