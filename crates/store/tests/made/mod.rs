//! A store of made-up jobs, the same for the same seed, and its rows as plain values to compare with.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int16Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use netra_store::{Place, Store};

/// 16 November 2026, 00:00 UTC, in microseconds.
pub(crate) const BEGAN: i64 = 1_794_787_200_000_000;

/// How much is made up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) jobs: usize,
    pub(crate) ranks: usize,
    /// Calls of each rank.
    pub(crate) calls: usize,
    pub(crate) seed: u64,
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) job: String,
    pub(crate) job_id: i64,
    pub(crate) uid: i64,
    pub(crate) user: String,
    pub(crate) exe: String,
    pub(crate) t: i64,
    pub(crate) end: i64,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) job: usize,
    pub(crate) rank: i64,
    pub(crate) t: i64,
    pub(crate) t_ns: i16,
    pub(crate) duration: i64,
    pub(crate) layer: &'static str,
    pub(crate) op: &'static str,
    pub(crate) offset: Option<i64>,
    pub(crate) length: i64,
    pub(crate) bytes: i64,
    pub(crate) error: Option<&'static str>,
    pub(crate) file: usize,
    pub(crate) sequence: i64,
}

impl Call {
    pub(crate) fn path(&self) -> String {
        format!("/scratch/data/{}.dat", self.file)
    }

    pub(crate) fn file_id(&self) -> i64 {
        // Half of the real ones are negative as signed numbers.
        (self.file as i64 + 1).wrapping_mul(-7_046_029_254_386_353_131)
    }

    fn node(&self) -> String {
        format!("nid{:05}", self.rank / 2)
    }
}

/// A number that the next node measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    pub(crate) node: String,
    pub(crate) name: &'static str,
    pub(crate) t: i64,
    pub(crate) value: f64,
}

/// What is in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Made {
    pub(crate) jobs: Vec<Job>,
    pub(crate) calls: Vec<Call>,
    pub(crate) metrics: Vec<Metric>,
}

/// Numbers without a pattern (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

impl Made {
    /// Makes it up.
    pub(crate) fn new(size: Size) -> Made {
        let mut chance = Chance(size.seed | 1);
        let mut made = Made::default();
        for number in 0..size.jobs {
            let t = BEGAN + number as i64 * 60_000_000;
            let job = Job {
                job: format!("slurm.{}.0", 4700 + number),
                job_id: 4700 + number as i64,
                uid: 1000 + (number % 2) as i64,
                user: ["alice", "bob"][number % 2].to_owned(),
                exe: format!("/sw/bin/{}", ["wave", "lattice", "climate"][number % 3]),
                t,
                end: t + 50_000_000,
            };
            for rank in 0..size.ranks {
                made.rank(&mut chance, (number, rank), t, size.calls);
            }
            made.jobs.push(job);
        }
        for second in 0..120 {
            for (name, base) in
                [("cpu.user_ms", 250.0), ("memory.dirty_bytes", 1e6), ("disk.read_bytes", 4096.0)]
            {
                let value = base * f64::from(second);
                let (node, t) = ("nid00000".to_owned(), BEGAN + i64::from(second) * 1_000_000);
                made.metrics.push(Metric { node, name, t, value });
            }
        }
        made
    }

    fn rank(&mut self, chance: &mut Chance, (job, rank): (usize, usize), began: i64, calls: usize) {
        let mut nanos: i64 = 0;
        for sequence in 0..calls {
            let op = match sequence % 10 {
                0 => "open",
                9 => "close",
                8 if chance.below(2) == 0 => "sync",
                _ => ["read", "write"][chance.below(2) as usize],
            };
            let moves = matches!(op, "read" | "write");
            let failed = chance.below(50) == 0;
            let length = if moves { 1 << chance.below(16) } else { 0 };
            nanos += 1_000 + chance.below(40_000_000_000 / calls as u64) as i64;
            let duration = 500 + chance.below(3_000_000) as i64;
            self.calls.push(Call {
                job,
                rank: rank as i64,
                t: began + nanos / 1_000,
                t_ns: (nanos % 1_000) as i16,
                duration,
                layer: ["POSIX", "STDIO", "MPI-IO"][sequence / 10 % 3],
                op,
                offset: moves.then(|| chance.below(1 << 30) as i64),
                length,
                bytes: if failed { 0 } else { length },
                error: failed.then_some("EIO"),
                file: sequence / 10 % 7,
                sequence: sequence as i64,
            });
            nanos += duration;
        }
    }

    /// The jobs of one user, and what they did.
    pub(crate) fn of(&self, uid: i64) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| self.jobs[call.job].uid == uid)
    }

    /// Puts it into a store.
    pub(crate) async fn store(&self, folder: &Path) -> Store {
        let store = Store::create(Place::directory(folder).unwrap()).unwrap();
        store.append("jobs", &[self.job_rows()], None).await.unwrap();
        // Several commits, as a running hub makes them.
        for part in self.calls.chunks(200_000) {
            store.append("events", &[self.event_rows(part)], None).await.unwrap();
        }
        store.append("activity", &[self.activity_rows()], None).await.unwrap();
        store.append("metrics", &[self.metric_rows()], None).await.unwrap();
        store.append("processes", &[self.process_rows()], None).await.unwrap();
        store
    }

    pub(crate) fn job_rows(&self) -> RecordBatch {
        let jobs = || self.jobs.iter();
        rows([
            ("job", text(jobs().map(|job| Some(job.job.clone())))),
            ("t", time(jobs().map(|job| job.t))),
            ("end", time(jobs().map(|job| job.end))),
            ("job_id", long(jobs().map(|job| Some(job.job_id)))),
            ("uid", long(jobs().map(|job| Some(job.uid)))),
            ("user", text(jobs().map(|job| Some(job.user.clone())))),
            ("exe", text(jobs().map(|job| Some(job.exe.clone())))),
            ("command", text(jobs().map(|job| Some(format!("{} -n 1", job.exe))))),
            ("nprocs", long(jobs().map(|_| Some(4)))),
            ("processes", long(jobs().map(|_| Some(4)))),
            ("running", long(jobs().map(|_| Some(0)))),
            ("killed", long(jobs().map(|_| Some(0)))),
            ("source", text(jobs().map(|_| Some("stream".to_owned())))),
        ])
    }

    fn event_rows(&self, calls: &[Call]) -> RecordBatch {
        let calls = || calls.iter();
        let job = |call: &Call| &self.jobs[call.job];
        rows([
            ("job", text(calls().map(|call| Some(job(call).job.clone())))),
            ("rank", long(calls().map(|call| Some(call.rank)))),
            ("t", time(calls().map(|call| call.t))),
            ("t_ns", Arc::new(calls().map(|call| call.t_ns).collect::<Int16Array>()) as ArrayRef),
            ("duration", long(calls().map(|call| Some(call.duration)))),
            ("layer", text(calls().map(|call| Some(call.layer.to_owned())))),
            ("op", text(calls().map(|call| Some(call.op.to_owned())))),
            ("function", text(calls().map(|call| Some(call.op.to_owned())))),
            ("offset", long(calls().map(|call| call.offset))),
            ("length", long(calls().map(|call| Some(call.length)))),
            ("bytes", long(calls().map(|call| Some(call.bytes)))),
            ("error", text(calls().map(|call| call.error.map(str::to_owned)))),
            ("file", text(calls().map(|call| Some(call.path())))),
            ("file_id", long(calls().map(|call| Some(call.file_id())))),
            ("file_system", text(calls().map(|_| Some("lustre".to_owned())))),
            ("mount", text(calls().map(|_| Some("/scratch".to_owned())))),
            ("uid", long(calls().map(|call| Some(job(call).uid)))),
            ("user", text(calls().map(|call| Some(job(call).user.clone())))),
            ("exe", text(calls().map(|call| Some(job(call).exe.clone())))),
            ("node", text(calls().map(|call| Some(call.node())))),
            ("pid", long(calls().map(|call| Some(100 + call.rank)))),
            ("process", long(calls().map(|call| Some(call.job as i64 * 1000 + call.rank)))),
            ("lane", long(calls().map(|_| Some(0)))),
            ("sequence", long(calls().map(|call| Some(call.sequence)))),
            ("source", text(calls().map(|_| Some("stream".to_owned())))),
        ])
    }

    /// One row a call: the rows of a key add up, so nobody can tell.
    fn activity_rows(&self) -> RecordBatch {
        let calls = || self.calls.iter();
        let job = |call: &Call| &self.jobs[call.job];
        rows([
            ("job", text(calls().map(|call| Some(job(call).job.clone())))),
            ("rank", long(calls().map(|call| Some(call.rank)))),
            ("t", time(calls().map(|call| call.t / 1_000_000 * 1_000_000))),
            ("layer", text(calls().map(|call| Some(call.layer.to_owned())))),
            ("op", text(calls().map(|call| Some(call.op.to_owned())))),
            ("file_system", text(calls().map(|_| Some("lustre".to_owned())))),
            ("mount", text(calls().map(|_| Some("/scratch".to_owned())))),
            ("uid", long(calls().map(|call| Some(job(call).uid)))),
            ("user", text(calls().map(|call| Some(job(call).user.clone())))),
            ("exe", text(calls().map(|call| Some(job(call).exe.clone())))),
            ("node", text(calls().map(|call| Some(call.node())))),
            ("calls", long(calls().map(|_| Some(1)))),
            ("bytes", long(calls().map(|call| Some(call.bytes)))),
            ("time", long(calls().map(|call| Some(call.duration)))),
            ("slowest", long(calls().map(|call| Some(call.duration)))),
            ("failed", long(calls().map(|call| Some(i64::from(call.error.is_some()))))),
        ])
    }

    fn metric_rows(&self) -> RecordBatch {
        let metrics = || self.metrics.iter();
        rows([
            ("node", text(metrics().map(|metric| Some(metric.node.clone())))),
            ("name", text(metrics().map(|metric| Some(metric.name.to_owned())))),
            ("target", text(metrics().map(|_| Some(String::new())))),
            ("t", time(metrics().map(|metric| metric.t))),
            ("t_ns", Arc::new(metrics().map(|_| 0).collect::<Int16Array>()) as ArrayRef),
            (
                "value",
                Arc::new(metrics().map(|metric| metric.value).collect::<Float64Array>())
                    as ArrayRef,
            ),
            (
                "rises",
                Arc::new(metrics().map(|_| Some(true)).collect::<BooleanArray>()) as ArrayRef,
            ),
            ("source", text(metrics().map(|_| Some("sample".to_owned())))),
        ])
    }

    fn process_rows(&self) -> RecordBatch {
        let all: Vec<(&Job, i64)> =
            self.jobs.iter().flat_map(|job| (0..2).map(move |rank| (job, rank))).collect();
        let all = || all.iter();
        rows([
            ("job", text(all().map(|(job, _)| Some(job.job.clone())))),
            ("rank", long(all().map(|(_, rank)| Some(*rank)))),
            ("t", time(all().map(|(job, _)| job.t))),
            ("end", time(all().map(|(job, _)| job.end))),
            ("state", text(all().map(|_| Some("ended".to_owned())))),
            ("pid", long(all().map(|(_, rank)| Some(100 + rank)))),
            ("process", long(all().map(|(job, rank)| Some((job.job_id - 4700) * 1000 + rank)))),
            ("job_id", long(all().map(|(job, _)| Some(job.job_id)))),
            ("command", text(all().map(|(job, _)| Some(job.exe.clone())))),
            ("source", text(all().map(|_| Some("stream".to_owned())))),
            ("uid", long(all().map(|(job, _)| Some(job.uid)))),
            ("user", text(all().map(|(job, _)| Some(job.user.clone())))),
            ("exe", text(all().map(|(job, _)| Some(job.exe.clone())))),
            ("node", text(all().map(|_| Some("nid00000".to_owned())))),
        ])
    }
}

fn rows<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn text(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn long(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn time(values: impl Iterator<Item = i64>) -> ArrayRef {
    let values: Vec<i64> = values.collect();
    Arc::new(TimestampMicrosecondArray::from(values).with_timezone("UTC"))
}
