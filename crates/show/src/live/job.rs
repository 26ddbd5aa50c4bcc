//! A job while it runs: everything that is known of it, added up as batches come.

use std::collections::BTreeMap;
use std::sync::Arc;

use netra_event::Loss;
use netra_event::frame::{Head, Producer};
use netra_stream::batch::{Account, Events, Image, Process as About};

use super::diagnosis::Diagnosis;
use super::file::Files;
use super::kept::Kept;
use super::latency::Latency;
use super::process::{Process, Sums};
use super::rate::Rates;
use super::series::Series;
use super::step::{Cell, Step, Way};

/// Steps of a job's series.
const STEPS: usize = 4096;

/// A job.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its text key.
    pub key: String,
    /// Its processes.
    pub processes: BTreeMap<Producer, Process>,
    /// What happened when.
    pub series: Series<Step>,
    /// What was done to which file.
    pub files: Files,
    /// How long reads and writes took, by layer.
    pub latency: [[Latency; 2]; 5],
    /// The newest events, for the diagnosis.
    pub kept: Kept,
    /// What the rules say of it so far.
    pub diagnosis: Diagnosis,
    /// When something last came of it: version and time.
    pub changed: (u64, u64),
    /// How old the newest event of a batch was when it came, in nanoseconds: the worst lately.
    pub lag: u64,
    /// Events that whoever gives them says we missed.
    pub missed: u64,
}

/// What became of a job's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Events that were written.
    pub produced: u64,
    /// Events that came here.
    pub delivered: u64,
    /// Events that were not written or left out, by reason.
    pub dropped: BTreeMap<Loss, u64>,
    /// Events that are on their way.
    pub in_flight: u64,
    /// Whether every process has ended, and nothing that was wanted is missing.
    pub is_complete: bool,
}

impl Job {
    /// A job of which nothing is known yet.
    #[must_use]
    pub fn new(key: &str) -> Job {
        Job {
            key: key.to_owned(),
            processes: BTreeMap::new(),
            series: Series::new(STEPS),
            files: Files::default(),
            latency: Default::default(),
            kept: Kept::default(),
            diagnosis: Diagnosis::default(),
            changed: (0, 0),
            lag: 0,
            missed: 0,
        }
    }

    /// A process began or ended.
    pub fn life(&mut self, producer: Producer, about: About) {
        match self.processes.get_mut(&producer) {
            Some(process) => process.told(about),
            None => drop(self.processes.insert(producer, Process::new(about))),
        }
    }

    /// Newer tables or counters of a process.
    pub fn learn(&mut self, producer: Producer, image: &Arc<Image>) {
        if let Some(process) = self.processes.get_mut(&producer) {
            process.learn(image);
        }
    }

    /// A process's account.
    pub fn account(&mut self, producer: Producer, account: Account) {
        if let Some(process) = self.processes.get_mut(&producer) {
            process.account = Some(account);
        }
    }

    /// Calls of a process.
    pub fn events(
        &mut self,
        head: &Head,
        events: Events<'_>,
        slots: &[u8],
        now: u64,
        version: u64,
    ) {
        let Some(process) = self.processes.get_mut(&head.producer) else { return };
        let Some(image) = process.image.clone() else { return };
        let Some(view) = image.view() else { return };
        self.kept.take(head.producer, head.lane, head.from, slots);
        if process.is_launcher {
            process.events += u64::from(head.events);
            return;
        }
        let mut sums = Sums {
            series: &mut self.series,
            files: &mut self.files,
            latency: &mut self.latency,
            version,
        };
        process.events(&view, events, head.time, &mut sums);
        // The worst of the last seconds: it halves with each batch that is quicker.
        self.lag = now.saturating_sub(process.newest).max(self.lag / 2);
    }

    /// Processes that are the application's, in the order of their ranks: those that have done something
    /// to a file, and ranks that have not yet. Beside ranks, as in the log, only who has read or written.
    #[must_use]
    pub fn members(&self) -> Vec<&Process> {
        let is_rank = |process: &Process| process.about.rank.is_some() && process.events > 0;
        let ranked = self.processes.values().any(is_rank);
        let used = |process: &&Process| {
            // Whoever began to look in the middle of the job knows of earlier calls only by counters.
            let counted = || process.counted().iter().any(|cell| cell.calls > 0);
            let moved =
                || [Way::Read, Way::Write].iter().any(|&way| process.cells.lowest(way).calls > 0);
            let seen = || process.cells.used().next().is_some();
            let did = if ranked { moved() } else { seen() };
            !process.is_launcher && (is_rank(process) || did || counted())
        };
        let mut members: Vec<&Process> = self.processes.values().filter(used).collect();
        members.sort_by_key(|process| {
            (process.about.rank.unwrap_or(u32::MAX), process.about.start, process.about.pid)
        });
        members
    }

    /// The process that says who the job is: the first of its ranks, else the first that did
    /// something, else the first.
    #[must_use]
    pub fn first(&self) -> Option<&Process> {
        self.members().first().copied().or_else(|| self.processes.values().next())
    }

    /// The user it belongs to.
    #[must_use]
    pub fn uid(&self) -> Option<u32> {
        self.processes.values().next().map(|process| process.about.uid)
    }

    /// Ranks, or processes where there are none.
    #[must_use]
    pub fn ranks(&self) -> u64 {
        let known = self.processes.values().filter_map(|process| process.about.nprocs).max();
        let members = self.members().len() as u64;
        known.map_or(members, |known| u64::from(known).max(members))
    }

    /// The hosts it runs on: number and name.
    #[must_use]
    pub fn hosts(&self) -> BTreeMap<u64, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = self.processes.iter();
        all.map(|(producer, process)| (producer.host, text(&process.about.host))).collect()
    }

    /// When it began, nanoseconds since 1970: as the log has it, when its first process that did
    /// something did.
    #[must_use]
    pub fn start(&self) -> u64 {
        let starts = |all: &mut dyn Iterator<Item = &Process>| all.map(|one| one.about.start).min();
        let members = starts(&mut self.members().into_iter());
        members.or_else(|| starts(&mut self.processes.values())).unwrap_or(0)
    }

    /// When it ended; nothing while a process runs.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        if self.processes.is_empty() || self.processes.values().any(|process| !process.is_over()) {
            return None;
        }
        let ends = self.processes.values().map(|one| one.about.end.unwrap_or(0).max(one.newest));
        ends.max()
    }

    /// Reads and writes of the lowest layers: from events, or from counters where those know more.
    #[must_use]
    pub fn moved(&self) -> [Cell; 2] {
        let mut sums = [Cell::default(); 2];
        for process in self.members() {
            let counted = process.counted();
            for way in [Way::Read, Way::Write] {
                let (seen, counted) = (process.cells.lowest(way), counted[way as usize]);
                sums[way as usize].fold(&Cell {
                    calls: seen.calls.max(counted.calls),
                    bytes: seen.bytes.max(counted.bytes),
                    nanos: seen.nanos,
                });
            }
        }
        sums
    }

    /// What it moves lately.
    #[must_use]
    pub fn rates(&self, now: u64) -> Rates {
        Rates::of(&self.series, self.start(), now)
    }

    /// The share of its time that processes were in calls of the lowest layers.
    #[must_use]
    pub fn share(&self, now: u64) -> f64 {
        let run = self.end().unwrap_or(now).saturating_sub(self.start()) as f64;
        let members = self.members();
        let nanos = |process: &&Process| {
            Way::ALL.iter().map(|&way| process.cells.lowest(way).nanos as f64).sum::<f64>()
        };
        let busy: f64 = members.iter().map(nanos).sum();
        let all = run * members.len() as f64;
        if all > 0.0 { (busy / all).min(1.0) } else { 0.0 }
    }

    /// What became of its events.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        let mut sums = Completeness::default();
        let mut on_the_way = 0u64;
        for process in self.processes.values() {
            sums.delivered += process.events;
            for lane in process.account.iter().flat_map(|account| &account.lanes) {
                sums.produced = sums.produced.saturating_add(lane.produced);
                for &(code, count) in &lane.dropped {
                    let loss = Loss::from_code(code).unwrap_or(Loss::Unknown);
                    let sum = sums.dropped.entry(loss).or_default();
                    *sum = sum.saturating_add(count);
                    if loss.is_on_the_way() {
                        on_the_way = on_the_way.saturating_add(count);
                    }
                }
            }
        }
        // An account is older than the events that came since.
        sums.produced = sums.produced.max(sums.delivered);
        sums.in_flight = sums.produced - sums.delivered;
        sums.in_flight = sums.in_flight.saturating_sub(on_the_way);
        let wanted = |loss: &Loss| !matches!(loss, Loss::Excluded | Loss::Filtered);
        sums.is_complete = sums.in_flight == 0
            && self.processes.values().all(Process::is_final)
            && !sums.dropped.keys().any(wanted);
        sums
    }
}
