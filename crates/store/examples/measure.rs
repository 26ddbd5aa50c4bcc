//! Measures a store: generated jobs go through the sink, are put together, and are asked. Prints one JSON object a line; `cargo xtask bench
//! store` runs it beside DuckDB and SQLite and keeps the result.
//!
//! usage: measure DIR [EVENTS [ask]]      with `ask`, the store is there already and is only asked
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that can not go on ends there"
)]

#[path = "../tests/generate/mod.rs"]
mod generate;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::{ExecutionPlan, collect};
use generate::Maker;
use netra_store::ask::{Ground, Limits, Session, Who};
use netra_store::{Ingest, Place, Store};
use netra_stream::batch::{Batch, Images, Payload};
use netra_stream::frame;
use netra_stream::sink::Sink;
use netra_stream::told::Told;

const JOBS: u64 = 100;
const RANKS: u32 = 64;
/// Events of a frame.
const FRAME: u64 = 1000;

/// Seconds of processor time that this process took.
fn processor() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Peak of memory in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn say(name: &str, value: f64) {
    println!("{{\"name\":\"{name}\",\"value\":{value}}}");
}

/// Frames of all ranks of a job, as they come over the wire: a second of one rank, then of the next. `sent` gets them bit by bit, and
/// empties the spool.
fn job(job: u64, each: u64, spool: &mut Vec<u8>, mut sent: impl FnMut(&mut Vec<u8>)) {
    let makers: Vec<Maker> =
        (0..RANKS).map(|rank| Maker { job, rank, nprocs: RANKS, every: 1_000_000 }).collect();
    let mut slots = vec![0; makers.len()];
    for maker in &makers {
        maker.began(spool);
        maker.tables(spool);
    }
    for from in (0..each).step_by(FRAME as usize) {
        for (maker, slot) in makers.iter().zip(&mut slots) {
            *slot = maker.events(*slot, from..(from + FRAME).min(each), spool);
        }
        sent(spool);
    }
    for maker in &makers {
        maker.ended(each, spool);
    }
    sent(spool);
}

fn main() {
    // As the program does.
    netra_stream::heap::share();
    let mut words = std::env::args().skip(1);
    let place = PathBuf::from(words.next().expect("a directory"));
    let events: u64 = words.next().map_or(100_000_000, |word| word.parse().unwrap());
    let each = (events / (JOBS * u64::from(RANKS))).max(1);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = Arc::new(Store::create(Place::directory(&place).unwrap()).unwrap());
    if words.next().is_some_and(|word| word == "ask") {
        return ask(&runtime, &store, each);
    }
    let told = Arc::new(Told::quiet());
    let mut sink =
        Ingest::new(Arc::clone(&store), runtime.handle().clone(), told, Duration::from_secs(10));
    sink.at(1, 0);
    sink.resume(&[]).unwrap();
    let (mut position, mut images) = (0, Images::new());
    let (mut took, mut wall, mut spool) = (0.0, 0.0, Vec::new());
    for number in 0..JOBS {
        job(number, each, &mut spool, |spool| {
            let (before, begun) = (processor(), Instant::now());
            let mut bytes = &spool[..];
            while !bytes.is_empty() {
                let batch = Batch::open(bytes).unwrap();
                let length = frame::length(&batch.head);
                if let Ok(Some(Payload::Tables(parts))) = batch.payload() {
                    let image = images.entry(batch.head.producer).or_default();
                    Arc::make_mut(image).take(parts.parts());
                }
                position += length as u64;
                sink.at(1, position);
                sink.take(&batch, &images).unwrap();
                if sink.is_full() {
                    sink.commit().unwrap();
                }
                bytes = &bytes[length..];
            }
            spool.clear();
            took += processor() - before;
            wall += begun.elapsed().as_secs_f64();
        });
        images.clear();
    }
    let (before, begun) = (processor(), Instant::now());
    sink.commit().unwrap();
    took += processor() - before;
    wall += begun.elapsed().as_secs_f64();
    let total = (each * JOBS * u64::from(RANKS)) as f64;
    say("events", total);
    say("ingest_per_core", total / took.max(0.01));
    say("ingest_per_second", total / wall);
    say("ingest_peak_mib", peak());
    let begun = Instant::now();
    for table in store.tables() {
        runtime.block_on(store.compact(table.name, 2)).unwrap();
        runtime.block_on(store.clean(table.name, Duration::ZERO)).unwrap();
    }
    say("compact_seconds", begun.elapsed().as_secs_f64());
    let stats = runtime.block_on(store.stats());
    let bytes: u64 =
        stats.iter().map(|(_, stats)| stats.as_ref().map_or(0, |stats| stats.bytes)).sum();
    say("bytes_per_event", bytes as f64 / total);
    say("compact_peak_mib", peak());
    ask(&runtime, &store, each);
    say("peak_mib", peak());
}

/// Asks each question thrice in one session; the quickest counts, the first is said, too.
fn ask(runtime: &tokio::runtime::Runtime, store: &Arc<Store>, each: u64) {
    let ground = Ground::new(&Limits::default()).unwrap();
    let session = Session::new(Arc::clone(store) as Arc<_>, Who::Administrator, &ground);
    let session = session.context();
    let window = (each / 4).clamp(1, 1600);
    let start = i64::try_from(generate::START / 1000).unwrap();
    let time = |job: i64, milliseconds: u64| {
        let micros = start + job * 2_000_000 + i64::try_from(milliseconds).unwrap() * 1000;
        format!("to_timestamp_micros({micros})")
    };
    let job_window = format!("t >= {} and t < {}", time(50, 0), time(50, window));
    let questions = [
        ("job_rank", "select * from events where job = 'slurm.1050.0' and rank = 17".to_owned()),
        (
            "job_rank_window",
            format!("select * from events where job = 'slurm.1050.0' and rank = 17 and {job_window}"),
        ),
        ("job_window", format!("select * from events where job = 'slurm.1050.0' and {job_window}")),
        (
            "five_seconds_of_all",
            format!(
                "select op, count(*), sum(bytes) from events where t >= {} and t < {} group by op",
                time(50, 0),
                time(50, 5000)
            ),
        ),
        (
            "panel",
            "select t, op, sum(calls), sum(bytes) from activity where job = 'slurm.1050.0' group by t, op order by t"
                .to_owned(),
        ),
        ("all_by_op", "select op, count(*), sum(bytes), max(duration) from events group by op".to_owned()),
        ("all_by_rank", "select job, rank, count(*), sum(duration) from events group by job, rank".to_owned()),
        (
            "job_to_arrow",
            "select job, rank, t, t_ns, duration, op, function, file, \"offset\", length, bytes, sequence, node from events \
             where job = 'slurm.1050.0'"
                .to_owned(),
        ),
    ];
    for (name, question) in questions {
        let mut times = Vec::new();
        let (mut rows, mut seen) = (0, 0);
        for _ in 0..4 {
            let begun = Instant::now();
            let (answer, plan) = runtime.block_on(async {
                let asked = session.sql(&question).await.unwrap();
                let plan = asked.create_physical_plan().await.unwrap();
                (collect(Arc::clone(&plan), session.task_ctx()).await.unwrap(), plan)
            });
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
            rows = answer.iter().map(RecordBatch::num_rows).sum();
            seen = read(plan.as_ref());
        }
        say(&format!("{name}_first_ms"), times[0]);
        let best = times[1..].iter().copied().fold(f64::MAX, f64::min);
        say(&format!("{name}_ms"), best);
        say(&format!("{name}_rows"), rows as f64);
        say(&format!("{name}_read"), seen as f64);
    }
}

/// Rows that were decoded to answer: those that a filter looked at in files that their bounds did not rule out.
fn read(plan: &dyn ExecutionPlan) -> usize {
    let children = plan.children();
    let below: usize = children.iter().map(|child| read(child.as_ref())).sum();
    // Whoever reads files in another way than was planned says what was read.
    if below > 0 || !(children.is_empty() || plan.name() == "Referring") {
        return below;
    }
    let Some(metrics) = plan.metrics() else { return 0 };
    let of = |name: &str| metrics.sum_by_name(name).as_ref().map_or(0, MetricValue::as_usize);
    let looked_at = of("pushdown_rows_pruned") + of("pushdown_rows_matched");
    looked_at.max(metrics.output_rows().unwrap_or(0))
}
