//! Rows beside those of `made`: counters, accounts, layouts on Lustre, messages.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int16Array, Int64Array, ListBuilder, PrimitiveBuilder,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use netra_event::Loss;
use netra_store::Store;

use crate::made::{BEGAN, Call, Made};

fn text(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<StringArray>())
}

fn long(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<Int64Array>())
}

fn double(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<Float64Array>())
}

fn time(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(values).with_timezone("UTC"))
}

async fn put(store: &Store, table: &str, columns: Vec<(String, ArrayRef)>) {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    store.append(table, &[rows], None).await.unwrap();
}

/// The counters of every rank, one record for each layer, as its calls add up.
pub(crate) async fn counters(store: &Store, made: &Made) {
    for (table, layer) in [("posix", "POSIX"), ("stdio", "STDIO")] {
        let ranks: Vec<i64> = {
            let mut all: Vec<i64> = made.calls.iter().map(|call| call.rank).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let all: Vec<(usize, i64)> = (0..made.jobs.len())
            .flat_map(|job| ranks.iter().map(move |&rank| (job, rank)))
            .collect();
        let all = || all.iter().copied();
        let job = |(job, _): (usize, i64)| &made.jobs[job];
        let sum =
            |(job, rank): (usize, i64), wanted: &dyn Fn(&Call) -> bool, value: fn(&Call) -> i64| {
                let calls = made
                    .calls
                    .iter()
                    .filter(|call| (call.job, call.rank, call.layer) == (job, rank, layer));
                calls.filter(|call| wanted(call)).map(value).sum::<i64>()
            };
        let is = |op: &'static str| move |call: &Call| call.op == op;
        let meta = |call: &Call| !matches!(call.op, "read" | "write");
        let seconds = |nanos: i64| nanos as f64 / 1e9;
        let name = |counter: &str| format!("{table}_{counter}");
        let columns = vec![
            ("job".to_owned(), text(all().map(|one| job(one).job.clone()))),
            ("rank".to_owned(), long(all().map(|one| one.1))),
            ("file".to_owned(), text(all().map(|_| "/scratch/data/0.dat".to_owned()))),
            ("file_id".to_owned(), long(all().map(|_| 7))),
            ("file_system".to_owned(), text(all().map(|_| "lustre".to_owned()))),
            ("mount".to_owned(), text(all().map(|_| "/scratch".to_owned()))),
            ("t".to_owned(), time(all().map(|one| job(one).t))),
            ("uid".to_owned(), long(all().map(|one| job(one).uid))),
            ("user".to_owned(), text(all().map(|one| job(one).user.clone()))),
            ("exe".to_owned(), text(all().map(|one| job(one).exe.clone()))),
            ("node".to_owned(), text(all().map(|_| "nid00000".to_owned()))),
            (name("bytes_read"), long(all().map(|one| sum(one, &is("read"), |call| call.bytes)))),
            (
                name("bytes_written"),
                long(all().map(|one| sum(one, &is("write"), |call| call.bytes))),
            ),
            (name("reads"), long(all().map(|one| sum(one, &is("read"), |_| 1)))),
            (name("writes"), long(all().map(|one| sum(one, &is("write"), |_| 1)))),
            (
                name("f_read_time"),
                double(all().map(|one| seconds(sum(one, &is("read"), |call| call.duration)))),
            ),
            (
                name("f_write_time"),
                double(all().map(|one| seconds(sum(one, &is("write"), |call| call.duration)))),
            ),
            (
                name("f_meta_time"),
                double(all().map(|one| seconds(sum(one, &meta, |call| call.duration)))),
            ),
        ];
        put(store, table, columns).await;
    }
}

/// Accounts of one lane a job; one of them has lost events.
pub(crate) async fn ledger(store: &Store, made: &Made, unlucky: usize) {
    let jobs = || made.jobs.iter().enumerate();
    let lost = |at: usize| if at == unlucky { 12 } else { 0 };
    let mut columns = vec![
        ("job".to_owned(), text(jobs().map(|(_, job)| job.job.clone()))),
        ("rank".to_owned(), long(jobs().map(|_| 0))),
        ("t".to_owned(), time(jobs().map(|(_, job)| job.t))),
        ("process".to_owned(), long(jobs().map(|(at, _)| at as i64 * 1000))),
        ("lane".to_owned(), long(jobs().map(|_| 0))),
        (
            "final".to_owned(),
            Arc::new(jobs().map(|_| Some(true)).collect::<BooleanArray>()) as ArrayRef,
        ),
        ("calls".to_owned(), long(jobs().map(|(at, _)| 100 + lost(at)))),
        ("produced".to_owned(), long(jobs().map(|_| 100))),
        ("sent".to_owned(), long(jobs().map(|_| 100))),
        ("dropped".to_owned(), long(jobs().map(|(at, _)| lost(at)))),
        ("uid".to_owned(), long(jobs().map(|(_, job)| job.uid))),
        ("user".to_owned(), text(jobs().map(|(_, job)| job.user.clone()))),
        ("exe".to_owned(), text(jobs().map(|(_, job)| job.exe.clone()))),
        ("node".to_owned(), text(jobs().map(|_| "nid00000".to_owned()))),
    ];
    for loss in Loss::ALL {
        let of = |at: usize| if *loss == Loss::Budget { lost(at) } else { 0 };
        columns.push((format!("dropped_{}", loss.slug()), long(jobs().map(|(at, _)| of(at)))));
    }
    put(store, "ledger", columns).await;
}

/// A file of each job on these storage targets.
pub(crate) async fn layouts(store: &Store, made: &Made, targets: &[Vec<i64>]) {
    let jobs = || made.jobs.iter();
    let item = Arc::new(Field::new("element", DataType::Int64, true));
    let mut osts = ListBuilder::new(PrimitiveBuilder::<Int64Type>::new()).with_field(item);
    for list in targets {
        osts.append_value(list.iter().copied().map(Some));
    }
    let columns = vec![
        ("job".to_owned(), text(jobs().map(|job| job.job.clone()))),
        ("rank".to_owned(), long(jobs().map(|_| -1))),
        ("file".to_owned(), text(jobs().map(|_| "/scratch/data/0.dat".to_owned()))),
        ("file_id".to_owned(), long(jobs().map(|_| 7))),
        ("t".to_owned(), time(jobs().map(|job| job.t))),
        ("component".to_owned(), long(jobs().map(|_| 0))),
        ("components".to_owned(), long(jobs().map(|_| 1))),
        ("uid".to_owned(), long(jobs().map(|job| job.uid))),
        ("user".to_owned(), text(jobs().map(|job| job.user.clone()))),
        ("exe".to_owned(), text(jobs().map(|job| job.exe.clone()))),
        ("node".to_owned(), text(jobs().map(|_| String::new()))),
        ("osts".to_owned(), Arc::new(osts.finish()) as ArrayRef),
    ];
    put(store, "lustre", columns).await;
}

/// Bob's prolog said that a job of his is not recorded, and somebody published nonsense.
pub(crate) async fn messages(store: &Store) {
    let said = [r#"{"job":"slurm.5000.0","why":"NETRA=off"}"#, "no JSON at all"];
    let columns = vec![
        ("tag".to_owned(), text(said.iter().map(|_| "netra.unrecorded".to_owned()))),
        ("t".to_owned(), time(said.iter().map(|_| BEGAN))),
        (
            "t_ns".to_owned(),
            Arc::new(said.iter().map(|_| Some(0)).collect::<Int16Array>()) as ArrayRef,
        ),
        ("form".to_owned(), text(said.iter().map(|_| "json".to_owned()))),
        ("text".to_owned(), text(said.iter().map(|&one| one.to_owned()))),
        ("uid".to_owned(), long(said.iter().map(|_| 1001))),
        ("publisher".to_owned(), long(said.iter().map(|_| 1))),
        ("sequence".to_owned(), long((0..).take(said.len()))),
    ];
    put(store, "messages", columns).await;
}
