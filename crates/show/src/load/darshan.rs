//! A [`Job`] from a Darshan log.

use std::collections::{BTreeMap, BTreeSet};

use netra_analyse::{
    COUNTED, Decoder, Direction, Gather, Heatmap, Job, Layer, Layout, Mount, PartialModule,
    TraceRow, Usage, Who,
};
use netra_darshan::read::{self, Log, Lustre, Record};
use netra_darshan::{Damage, Missing, Part, Reason, counter};
use netra_event::{Module, Rank, RecordId};

use super::holder::Holders;
use super::section;
use crate::{head, own};

/// Everything in a log that the analysis looks at, and what is missing from the log.
#[must_use]
pub fn job(source: &str, log: &Log) -> (Job, Vec<Damage>) {
    let mut missing = Missing::of(log);
    let mut job = start(source, log);
    for layer in COUNTED {
        usages(&mut job, log, layer, &mut missing);
    }
    layouts(&mut job, log, &mut missing);
    heatmaps(&mut job, log, &mut missing);
    // A log of netra's own holds its trace twice; the section knows more.
    let traced = section::add(&mut job, log, &mut missing);
    for module in [Module::DxtPosix, Module::DxtMpiio].into_iter().filter(|_| !traced) {
        trace(&mut job, log, module, &mut missing);
    }
    let missing = missing.all();
    count_nodes(&mut job);
    for damage in &missing {
        match (damage.part, &damage.reason) {
            (Part::Module(module), Reason::Incomplete) => job.partial.push(PartialModule(module)),
            // The account of the events says it with its reasons.
            (_, Reason::Events { .. }) => {}
            _ => job.remarks.push(crate::sentence(damage)),
        }
    }
    job.set_aside();
    (job, missing)
}

/// Only when every rank has told its host is the number of hosts known.
pub(super) fn count_nodes(job: &mut Job) {
    if job.hosts.len() as u64 == job.nprocs && job.nprocs > 0 {
        job.nodes = Some(job.hosts.values().collect::<BTreeSet<_>>().len() as u64);
    }
}

/// The job itself, its mounts and the names of its files.
fn start(source: &str, log: &Log) -> Job {
    let from = log.job();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mount = |mount: &read::Mount| Mount { path: text(&mount.point), kind: text(&mount.kind) };
    Job {
        source: source.to_owned(),
        command: text(&from.exe),
        id: from.numbers.jobid.to_string(),
        nprocs: u64::try_from(from.numbers.nprocs).unwrap_or(0),
        who: Who::ranks(u64::try_from(from.ranks()).unwrap_or(0)),
        start: Some(from.start()),
        run_time: head::run_time(log),
        mounts: from.mounts.iter().map(mount).collect(),
        names: log.names().iter().map(|(id, name)| (id, text(name))).collect(),
        hints: hints(&from.metadata),
        modules: log.modules().collect(),
        also: own::sums(log),
        ..Job::default()
    }
}

/// The hints that were in force for the whole job, a line of its metadata: `h=name=value;name=value`.
pub(super) fn hints(metadata: &[u8]) -> BTreeMap<String, String> {
    let mut hints = BTreeMap::new();
    for list in metadata.split(|&byte| byte == b'\n').filter_map(|line| line.strip_prefix(b"h=")) {
        let list = String::from_utf8_lossy(list);
        for (name, value) in list.split(';').filter_map(|hint| hint.split_once('=')) {
            hints.insert(name.to_owned(), value.to_owned());
        }
    }
    hints
}

fn usages(job: &mut Job, log: &Log, layer: Layer, missing: &mut Missing<'_>) {
    let Some(table) = counter::current(layer.module()) else { return };
    let decoder = Decoder::new(layer, table.int, table.float);
    let mut records = log.records(layer.module());
    let mut usages = Usages::of(layer);
    let mut holders = Holders::default();
    while let Some(record) = records.next_record() {
        let Record::Counters(counters) = record else { continue };
        let file = match counters.extra {
            read::Extra::File(RecordId(0)) => holders.of(&job.names, counters.id),
            read::Extra::File(file) => file,
            _ => counters.id,
        };
        let usage = decoder.usage(file, counters.rank, counters.ints, counters.floats);
        usages.add(counters.id, usage);
    }
    usages.finish(job);
    missing.read(&records);
}

/// The records of a layer while they are read. In the end they do not depend on the order in which they came.
pub(super) enum Usages {
    /// One for each file and rank, with their keys.
    Each(Vec<Usage>, Vec<(RecordId, Rank)>),
    /// Many for each: data sets and variables in files.
    Added(Gather),
}

impl Usages {
    pub(super) fn of(layer: Layer) -> Usages {
        match layer {
            Layer::H5d | Layer::Pnetcdf => Usages::Added(Gather::default()),
            _ => Usages::Each(Vec::new(), Vec::new()),
        }
    }

    pub(super) fn add(&mut self, record: RecordId, usage: Usage) {
        match self {
            Usages::Added(gather) => gather.add(record, usage),
            Usages::Each(usages, keys) => {
                keys.push((record, usage.rank));
                usages.push(usage);
            }
        }
    }

    pub(super) fn finish(self, job: &mut Job) {
        match self {
            Usages::Added(gather) => job.usages.extend(gather.finish()),
            Usages::Each(mut usages, keys) => {
                in_order(&mut usages, &keys);
                if job.usages.is_empty() {
                    job.usages = usages;
                } else {
                    job.usages.append(&mut usages);
                }
            }
        }
    }
}

/// Puts records into the order of their keys: sums do not depend on the order of records in a log, nor on that
/// of rows in a table. Records are large and there are many, so each is moved once, and none where all stand right.
fn in_order(usages: &mut [Usage], keys: &[(RecordId, Rank)]) {
    if keys.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..usages.len()).collect();
    order.sort_by_key(|&at| keys.get(at));
    // Round by round: what belongs here comes, and what was here goes along to where the next came from.
    for first in 0..order.len() {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == first {
                break;
            }
            usages.swap(at, from);
            at = from;
        }
    }
}

fn layouts(job: &mut Job, log: &Log, missing: &mut Missing<'_>) {
    let mut records = log.records(Module::Lustre);
    while let Some(record) = records.next_record() {
        if let Record::Lustre(lustre) = record {
            job.layouts.extend(layout(&lustre));
        }
    }
    job.layouts.sort_by_key(|layout| layout.file);
    missing.read(&records);
}

/// The component that holds most of a file: the one with the most targets.
fn layout(lustre: &Lustre<'_>) -> Option<Layout> {
    let (component, targets) = lustre
        .parts()
        .filter(|(component, _)| component.numbers[counter::lustre::STRIPE_SIZE] > 0)
        .max_by_key(|(_, targets)| targets.len())?;
    let number = |index: usize| u64::try_from(component.numbers[index]).unwrap_or(0);
    Some(Layout {
        file: lustre.id,
        stripe_size: number(counter::lustre::STRIPE_SIZE),
        stripe_count: number(counter::lustre::STRIPE_COUNT),
        osts: targets.iter().filter_map(|target| u64::try_from(*target).ok()).collect(),
    })
}

/// Bytes over time. A record's number is the hash of its layer's name.
fn heatmaps(job: &mut Job, log: &Log, missing: &mut Missing<'_>) {
    let layers = [Layer::Posix, Layer::Stdio, Layer::Mpiio]
        .map(|layer| (RecordId::of(format!("heatmap:{}", heat_name(layer)).as_bytes()), layer));
    let mut records = log.records(Module::Heatmap);
    while let Some(record) = records.next_record() {
        let Record::Heatmap(heat) = record else { continue };
        let layer = layers.iter().find(|(id, _)| *id == heat.id).map(|(_, layer)| *layer);
        let (Some(layer), Ok(rank)) = (layer, u32::try_from(heat.rank.0)) else { continue };
        let bytes = |steps: &[i64]| {
            steps.iter().map(|bytes| u64::try_from(*bytes).unwrap_or(0)).collect::<Vec<u64>>()
        };
        let (read, write) = (bytes(heat.reads), bytes(heat.writes));
        if heat.width.0.is_finite() && heat.width.0 > 0.0 {
            job.heatmaps.push(Heatmap { layer, rank, width: heat.width.0, read, write });
        }
    }
    job.heatmaps.sort_by_key(|heat| (heat.layer, heat.rank));
    missing.read(&records);
}

/// What Darshan calls a layer in the names of its heat maps.
fn heat_name(layer: Layer) -> &'static str {
    match layer {
        Layer::Mpiio => "MPIIO",
        other => other.name(),
    }
}

fn trace(job: &mut Job, log: &Log, module: Module, missing: &mut Missing<'_>) {
    let mut records = log.records(module);
    while let Some(record) = records.next_record() {
        let Record::Dxt(mut dxt) = record else { continue };
        let rank = u32::try_from(dxt.head.rank.0).unwrap_or(0);
        job.hosts
            .entry(rank)
            .or_insert_with(|| String::from_utf8_lossy(&dxt.head.host).into_owned());
        let call = TraceRow {
            file: job.trace.file(dxt.head.id),
            rank,
            layer: if module == Module::DxtMpiio { Layer::Mpiio } else { Layer::Posix },
            direction: Direction::Read,
            start: 0.0,
            end: 0.0,
            offset: 0,
            length: 0,
        };
        while let Some((direction, segments)) = dxt.segments.next_piece() {
            let direction = match direction {
                read::Direction::Read => Direction::Read,
                read::Direction::Write => Direction::Write,
            };
            for segment in segments.iter().filter(|segment| segment.start.is_finite()) {
                job.trace.push(TraceRow {
                    direction,
                    start: segment.start,
                    end: segment.end,
                    offset: u64::try_from(segment.offset).unwrap_or(0),
                    length: u64::try_from(segment.length).unwrap_or(0),
                    ..call
                });
            }
        }
    }
    missing.read(&records);
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use netra_analyse::{Layer, Usage};
    use netra_event::{Rank, RecordId};

    #[test]
    fn records_come_into_the_order_of_their_keys() {
        // Numbers that look random and are the same every time.
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for many in 0..60 {
            let mut key = || (RecordId(next(20)), Rank(next(5).cast_signed() - 1));
            let keys: Vec<(RecordId, Rank)> = (0..many).map(|_| key()).collect();
            let record = |(at, (id, rank)): (u64, &(RecordId, Rank))| {
                let mut usage = Usage::new(Layer::Posix, *id, *rank);
                usage.opens = at;
                usage
            };
            let mut got: Vec<Usage> = (0..).zip(&keys).map(record).collect();
            let mut want = got.clone();
            want.sort_by_key(|usage| (usage.file, usage.rank));
            in_order(&mut got, &keys);
            assert_eq!(got, want);
        }
    }
}
