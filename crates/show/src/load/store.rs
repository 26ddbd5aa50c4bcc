//! A [`Job`] from a store: the same input for the analysis as its log gives, from tables. A job that
//! still runs has what is known of it so far.

use std::collections::{BTreeMap, HashMap};

use netra_analyse::{
    COUNTED, Decoder, Direction, Heatmap, Job, Layer, Layout, Mount, Opening, PartialModule,
    TraceRow, Who,
};
use netra_darshan::counter;
use netra_event::{Function, Module, RecordId, Seconds};
use netra_store::Result;
use netra_store::recall::{Account, Called, Component, Head, Order, Recall};

use super::calls::{Below, Process, Seen, Sums};
use super::darshan::{Usages, count_nodes, hints};

/// Everything in a store that the analysis looks at.
///
/// # Errors
/// The store can not be read.
pub async fn stored(recall: &Recall) -> Result<Job> {
    let head = recall.head().await?;
    let mut job = start(recall, &head).await?;
    for layer in COUNTED {
        usages(&mut job, recall, layer).await?;
    }
    layouts(&mut job, recall.layouts().await?);
    heatmaps(&mut job, recall).await?;
    let sources = recall.sources().await?;
    let recorded = sources.iter().any(|source| matches!(source.as_str(), "segment" | "stream"));
    let accounts = recall.accounts().await?;
    for process in recall.processes().await? {
        let rank = u32::try_from(process.rank).ok();
        if let Some(rank) = rank.filter(|_| !process.node.is_empty()) {
            job.hosts.entry(rank).or_insert_with(|| process.node.clone());
        }
        if let Some(number) = rank.filter(|number| u64::from(*number) >= job.who.ranks) {
            let pid = u32::try_from(process.pid).unwrap_or(0);
            job.who.others.insert(number, Who::name(&process.exe, pid));
        }
        let notes = process.notes.iter().map(|note| format!("process {}: {note}", process.pid));
        job.remarks.extend(notes);
    }
    // A process that counts and does not trace has an account and no calls.
    if recorded || !accounts.is_empty() {
        calls(&mut job, recall, head.start, accounts).await?;
    }
    if !recorded {
        trace(&mut job, recall, head.start).await?;
    }
    count_nodes(&mut job);
    job.partial = head.partial.iter().copied().map(PartialModule).collect();
    job.remarks.extend(head.remarks);
    job.set_aside();
    Ok(job)
}

/// The job itself, its mounts and the names of its files.
async fn start(recall: &Recall, head: &Head) -> Result<Job> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mounts = recall.mounts().await?;
    let mount = |mount: &netra_darshan::read::Mount| Mount {
        path: text(&mount.point),
        kind: text(&mount.kind),
    };
    let (seconds, nanos) =
        (head.start.div_euclid(1_000_000_000), head.start.rem_euclid(1_000_000_000));
    Ok(Job {
        source: head.key.clone(),
        key: Some(head.key.clone()),
        command: head.command.clone(),
        id: head.job_id.to_string(),
        nprocs: u64::try_from(head.nprocs.max(1)).unwrap_or(1),
        who: Who::ranks(ranks(head)),
        start: Some(Seconds(seconds as f64 + nanos as f64 / 1e9)),
        run_time: run_time(head),
        mounts: mounts.iter().map(mount).collect(),
        names: recall.names().await?,
        hints: hints(head.metadata.as_bytes()),
        modules: head.modules.clone(),
        ..Job::default()
    })
}

/// How many of its processes are ranks: all, unless its log knew better.
fn ranks(head: &Head) -> u64 {
    let said = head.metadata.lines().find_map(|line| line.strip_prefix("netra_ranks="));
    let said = said.and_then(|number| number.parse().ok());
    said.unwrap_or_else(|| u64::try_from(head.nprocs.max(1)).unwrap_or(1))
}

/// How long it ran. Before log version 3.41 there are whole seconds only, of which the last was at least
/// begun.
fn run_time(head: &Head) -> Seconds {
    const SECOND: i64 = 1_000_000_000;
    let end = head.end.unwrap_or(head.start);
    let seconds = end.div_euclid(SECOND).saturating_sub(head.start.div_euclid(SECOND)) as f64;
    if head.log_version.as_deref().is_some_and(|version| version < "3.41") {
        return Seconds(seconds + 1.0);
    }
    let nanos = end.rem_euclid(SECOND).saturating_sub(head.start.rem_euclid(SECOND)) as f64;
    Seconds(seconds + nanos / 1e9)
}

async fn usages(job: &mut Job, recall: &Recall, layer: Layer) -> Result<()> {
    let Some(table) = counter::current(layer.module()) else { return Ok(()) };
    let decoder = Decoder::new(layer, table.int, table.float);
    let mut usages = Usages::of(layer);
    recall
        .records(layer.module(), &mut |kept| {
            let file = match kept.extra {
                netra_darshan::read::Extra::File(file) => file,
                _ => kept.id,
            };
            let usage = decoder.usage(file, kept.rank, &kept.ints, &kept.floats);
            usages.add(kept.id, usage);
        })
        .await?;
    usages.finish(job);
    Ok(())
}

/// Of each file the component that holds most of it: the one with the most targets.
fn layouts(job: &mut Job, components: Vec<Component>) {
    const SIZE: usize = counter::lustre::STRIPE_SIZE;
    const COUNT: usize = counter::lustre::STRIPE_COUNT;
    for parts in components.chunk_by(|a, b| (a.id, a.rank) == (b.id, b.rank)) {
        let used = parts.iter().filter(|part| part.numbers[SIZE] > 0);
        let Some(part) = used.max_by_key(|part| part.targets.len()) else { continue };
        let number = |at: usize| u64::try_from(part.numbers[at]).unwrap_or(0);
        job.layouts.push(Layout {
            file: part.id,
            stripe_size: number(SIZE),
            stripe_count: number(COUNT),
            osts: part.targets.iter().filter_map(|ost| u64::try_from(*ost).ok()).collect(),
        });
    }
    job.layouts.sort_by_key(|layout| layout.file);
}

async fn heatmaps(job: &mut Job, recall: &Recall) -> Result<()> {
    for heat in recall.heats().await? {
        let layer = match heat.module {
            Some(Module::Posix) => Layer::Posix,
            Some(Module::Stdio) => Layer::Stdio,
            Some(Module::Mpiio) => Layer::Mpiio,
            _ => continue,
        };
        let Ok(rank) = u32::try_from(heat.rank.0) else { continue };
        let bytes =
            |bins: &[i64]| bins.iter().map(|&bin| u64::try_from(bin).unwrap_or(0)).collect();
        if heat.width > 0 {
            let (read, write) = (bytes(&heat.read), bytes(&heat.written));
            job.heatmaps.push(Heatmap { layer, rank, width: heat.width as f64 / 1e9, read, write });
        }
    }
    job.heatmaps.sort_by_key(|heat| (heat.layer, heat.rank));
    Ok(())
}

/// Every call of every function, as the library recorded it.
async fn calls(job: &mut Job, recall: &Recall, start: i64, accounts: Vec<Account>) -> Result<()> {
    let mut sums = Sums::default();
    let mut places: HashMap<i64, BTreeMap<String, u32>> = HashMap::new();
    // Its log numbers processes without MPI, which do not know that while they run.
    let mut ranks: HashMap<i64, i64> = HashMap::new();
    for process in recall.processes().await? {
        sums.places.executable(&process.exe);
        ranks.insert(process.process, process.rank);
    }
    for site in recall.sites().await? {
        let frames = site.frames.into_iter().map(|(object, address)| {
            let object = object.map(|(path, digits)| (path, bytes(&digits)));
            (object, address.cast_unsigned())
        });
        let place = sums.places.place(frames.collect());
        places.entry(site.process).or_default().insert(site.site, place);
    }
    let mut threads: BTreeMap<i64, Vec<Account>> = BTreeMap::new();
    for account in accounts {
        threads.entry(account.process).or_default().push(account);
    }
    let mut codes = Codes::default();
    let mut open: Option<(i64, Process)> = None;
    let mut below = (0, Below::default());
    let mut done = |sums: &mut Sums, job: &mut Job, open: &mut Option<(i64, Process)>| {
        let Some((name, mut process)) = open.take() else { return };
        for account in threads.remove(&name).unwrap_or_default() {
            give(sums, &mut process, &account);
        }
        sums.end(job, process);
    };
    recall
        .calls(Order::Lane, None, &mut |call| {
            if open.as_ref().is_none_or(|(name, _)| *name != call.process) {
                done(&mut sums, job, &mut open);
                let rank = ranks.get(&call.process).copied().unwrap_or(call.rank);
                open = Some((call.process, Process::new(u32::try_from(rank).ok())));
                below = (call.lane, Below::default());
            }
            if below.0 != call.lane {
                below = (call.lane, Below::default());
            }
            let site = call.site.and_then(|site| places.get(&call.process)?.get(site).copied());
            let Some((_, process)) = &mut open else { return };
            let seen = Seen { place: site, ..seen(call, codes.of(call.function), start) };
            sums.call(job, process, &mut below.1, &seen);
        })
        .await?;
    done(&mut sums, job, &mut open);
    // Processes without a call that is here.
    for (_, accounts) in std::mem::take(&mut threads) {
        let mut process = Process::new(None);
        for account in accounts {
            give(&mut sums, &mut process, &account);
        }
        sums.end(job, process);
    }
    sums.finish(job);
    Ok(())
}

fn give(sums: &mut Sums, process: &mut Process, account: &Account) {
    let by_function = account.by_function.iter().filter_map(|(name, calls)| {
        Function::from_symbol(name).map(|function| (function.code(), *calls))
    });
    let dropped = account.dropped.iter().copied();
    sums.account(process, account.calls, account.produced, dropped, by_function);
}

/// Codes of functions by their names in tables.
#[derive(Default)]
struct Codes(HashMap<String, u16>);

impl Codes {
    fn of(&mut self, name: &str) -> u16 {
        if let Some(&code) = self.0.get(name) {
            return code;
        }
        // What this netra does not know is named by its number.
        let number = || name.strip_prefix("function ")?.parse().ok();
        let code = Function::from_symbol(name).map(Function::code).or_else(number).unwrap_or(0);
        self.0.insert(name.to_owned(), code);
        code
    }
}

fn seen(call: &Called<'_>, code: u16, start: i64) -> Seen {
    Seen {
        code,
        start: call.start.saturating_sub(start),
        took: u64::try_from(call.took).unwrap_or(0),
        offset: call.offset.unwrap_or(-1),
        result: match call.error {
            Some(error) => -i64::from(error),
            None => call.bytes,
        },
        failed: call.error.is_some(),
        file: call.file,
        place: None,
        number: u32::try_from(call.number).unwrap_or(0),
        parent: u32::try_from(call.parent).unwrap_or(0),
        behind: call.lane > 0,
    }
}

/// Reads and writes of an extended trace or of the connector's messages.
async fn trace(job: &mut Job, recall: &Recall, start: i64) -> Result<()> {
    recall
        .calls(Order::Log, None, &mut |call| {
            let Some(layer) = layer(call.layer) else { return };
            let file = job.trace.file(call.file.unwrap_or(RecordId(0)));
            let rank = u32::try_from(call.rank).unwrap_or(0);
            let begins = call.start.saturating_sub(start);
            let (start, end) = (begins as f64 / 1e9, begins.saturating_add(call.took) as f64 / 1e9);
            let direction = match call.op {
                "read" => Direction::Read,
                "write" => Direction::Write,
                "open" | "close" => {
                    let close = call.op == "close";
                    let place = None;
                    job.opens.push(Opening { file, rank, layer, close, start, end, place });
                    return;
                }
                _ => return,
            };
            let offset = call.offset.and_then(|offset| u64::try_from(offset).ok()).unwrap_or(0);
            let length = u64::try_from(call.length).unwrap_or(0);
            let row = TraceRow { file, rank, layer, direction, start, end, offset, length };
            if layer.is_io() { job.trace.push(row) } else { job.above.push(row) }
        })
        .await
}

fn layer(name: &str) -> Option<Layer> {
    match name {
        "HDF5" => Some(Layer::H5d),
        name => COUNTED.into_iter().find(|layer| layer.name() == name),
    }
}

/// The bytes of hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len() / 2).filter_map(|at| digits.get(2 * at..2 * at + 2));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
