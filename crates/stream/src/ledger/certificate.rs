//! The completeness certificate of a job: is anything missing, how much, and why.

use std::collections::BTreeMap;

use netra_event::{Function, Loss};

use super::{Checkpoint, Got, Producing};

/// One account, of a process or of all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sums {
    /// Calls that the library counted.
    pub calls: u64,
    /// Events that were written into lanes.
    pub produced: u64,
    /// Events that this daemon has received.
    pub received: u64,
    /// Events that the sink has got.
    pub delivered: u64,
    /// Events that were never written, or were left out on the way, by reason.
    pub dropped: BTreeMap<Loss, u64>,
    /// Events that were produced, and neither delivered nor dropped yet.
    pub in_flight: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        grow(&mut self.calls, other.calls);
        grow(&mut self.produced, other.produced);
        grow(&mut self.received, other.received);
        grow(&mut self.delivered, other.delivered);
        grow(&mut self.in_flight, other.in_flight);
        for (&loss, &count) in &other.dropped {
            grow(self.dropped.entry(loss).or_default(), count);
        }
    }

    /// Events that are missing and were not kept out by a setting.
    #[must_use]
    pub fn missed(&self) -> u64 {
        let wanted = |loss: &Loss| !matches!(loss, Loss::Excluded | Loss::Filtered);
        self.dropped
            .iter()
            .filter(|(loss, _)| wanted(loss))
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// Adds numbers that a process may have written itself: a lie must not become a crash.
fn grow(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// One process of the job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessLine {
    /// Its host.
    pub host: String,
    /// Its number.
    pub pid: u32,
    /// Its rank, if it has one.
    pub rank: Option<u32>,
    /// Whether it has ended and everything of it was sent.
    pub is_final: bool,
    /// Its lanes together.
    pub sums: Sums,
}

/// Calls and delivered events of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionLine {
    /// Its name, or its code if this netra does not know it.
    pub name: String,
    /// Calls that the library counted.
    pub calls: u64,
    /// Events that the sink has got; nothing where frames are passed on unopened.
    pub delivered: Option<u64>,
}

/// Whether anything of a job is missing at one sink.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certificate {
    /// The job's key.
    pub job: String,
    /// The sink.
    pub sink: String,
    /// Its processes.
    pub processes: Vec<ProcessLine>,
    /// All of them together.
    pub sums: Sums,
    /// By function; only once every process has ended.
    pub functions: Vec<FunctionLine>,
    /// What does not add up, in words; empty where all is well.
    pub broken: Vec<String>,
}

impl Certificate {
    /// The certificates of a job, one a sink; none if the job is not known.
    #[must_use]
    pub fn of(checkpoint: &Checkpoint, job: &str) -> Vec<Certificate> {
        let known = |producing: &&Producing| is_of(producing, job);
        if !checkpoint.book.producers.values().any(|producing| known(&producing)) {
            return Vec::new();
        }
        checkpoint.outlets.iter().map(|outlet| Certificate::at(checkpoint, outlet, job)).collect()
    }

    /// The jobs that a daemon knows.
    #[must_use]
    pub fn jobs(checkpoint: &Checkpoint) -> Vec<String> {
        let processes = checkpoint.book.producers.values().filter_map(|of| of.process.as_ref());
        let mut jobs: Vec<String> =
            processes.map(|process| String::from_utf8_lossy(&process.job).into_owned()).collect();
        jobs.sort();
        jobs.dedup();
        jobs
    }

    fn at(checkpoint: &Checkpoint, outlet: &super::Outlet, job: &str) -> Certificate {
        let mut certificate = Certificate {
            job: job.to_owned(),
            sink: outlet.name.clone(),
            ..Certificate::default()
        };
        let nothing = Got::default();
        let mut calls: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
        for (producer, producing) in &checkpoint.book.producers {
            let Some(process) = producing.process.as_ref().filter(|_| is_of(producing, job)) else {
                continue;
            };
            let got = outlet.tally.producers.get(producer).unwrap_or(&nothing);
            let line = ProcessLine {
                host: String::from_utf8_lossy(&process.host).into_owned(),
                pid: process.pid,
                rank: process.rank,
                is_final: producing.is_final(),
                sums: certificate.account(process.pid, producing, got),
            };
            certificate.sums.add(&line.sums);
            certificate.processes.push(line);
            for &(code, count) in producing.account.iter().flat_map(|account| &account.calls) {
                grow(&mut calls.entry(code).or_default().0, count);
            }
            for (&code, &count) in &got.functions {
                grow(&mut calls.entry(code).or_default().1, count);
            }
        }
        if certificate.is_final() {
            certificate.reconcile(&calls);
        }
        certificate
    }

    /// The account of one process; what does not add up is noted.
    fn account(&mut self, pid: u32, producing: &Producing, got: &Got) -> Sums {
        let mut sums = Sums { received: producing.received(), ..Sums::default() };
        for lane in producing.account.iter().flat_map(|account| &account.lanes) {
            grow(&mut sums.calls, lane.calls);
            grow(&mut sums.produced, lane.produced);
            for &(code, count) in &lane.dropped {
                let loss = Loss::from_code(code).unwrap_or(Loss::Unknown);
                grow(sums.dropped.entry(loss).or_default(), count);
            }
        }
        sums.delivered = got.events();
        if got.skipped > 0 {
            grow(sums.dropped.entry(Loss::Behind).or_default(), got.skipped);
        }
        // Some reasons speak of events that were never produced, others of events that were.
        let on_the_way: u64 = sums
            .dropped
            .iter()
            .filter(|(loss, _)| loss.is_on_the_way())
            .fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        let settled = sums.delivered.saturating_add(on_the_way);
        sums.in_flight = sums.produced.saturating_sub(settled);
        // An account travels behind its events, so what came may be newer than the account, but
        // never once the account is final.
        if producing.is_final() && settled > sums.produced {
            self.broken.push(format!(
                "process {pid} produced {} events, but {} were delivered and {on_the_way} dropped",
                sums.produced, sums.delivered
            ));
        }
        if sums.delivered > sums.received {
            self.broken.push(format!(
                "process {pid}: {} events were delivered of {} received",
                sums.delivered, sums.received
            ));
        }
        sums
    }

    /// Compares what was delivered with the calls that the library counted, function by function.
    fn reconcile(&mut self, calls: &BTreeMap<u16, (u64, u64)>) {
        // Who only passes frames on does not look into them.
        let opened = calls.values().any(|&(_, delivered)| delivered > 0);
        for (&code, &(calls, delivered)) in calls {
            let name = Function::from_code(code)
                .map_or_else(|| format!("function {code}"), |function| function.name().to_owned());
            if delivered > calls {
                self.broken.push(format!("{name}: {delivered} events of {calls} calls"));
            }
            let delivered = opened.then_some(delivered);
            self.functions.push(FunctionLine { name, calls, delivered });
        }
        let all = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
        let dropped = all(&mut self.sums.dropped.values().copied());
        let parts = [self.sums.delivered, self.sums.in_flight, dropped];
        let accounted = all(&mut parts.into_iter());
        let calls = all(&mut self.functions.iter().map(|line| line.calls));
        if calls != accounted {
            self.broken.push(format!(
                "{calls} calls were made, {accounted} are accounted for \
                 ({} delivered, {dropped} dropped, {} in flight)",
                self.sums.delivered, self.sums.in_flight
            ));
        }
    }

    /// Whether every process has ended and everything of it was sent.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.processes.iter().all(|process| process.is_final)
    }

    /// Whether every event that was wanted is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_final()
            && self.broken.is_empty()
            && self.sums.in_flight == 0
            && self.sums.missed() == 0
    }
}

fn is_of(producing: &Producing, job: &str) -> bool {
    producing.process.as_ref().is_some_and(|process| process.job == job.as_bytes())
}
