//! The calls of a stored job, its call sites, and the account of what is missing.

use datafusion::arrow::array::Array as _;
use netra_event::{Loss, RecordId};

use super::{Recall, quoted};
use crate::Result;
use crate::ingest::errno;

/// A call. Texts live as long as the rows they stand in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Called<'a> {
    /// The process's number in the job; −1 for a helper without one.
    pub rank: i64,
    /// The process's name for ever.
    pub process: i64,
    /// The process; 0 where it is not known.
    pub pid: i64,
    /// The host.
    pub node: &'a str,
    /// The program.
    pub exe: &'a str,
    /// The thread's lane.
    pub lane: i64,
    /// Place in the lane.
    pub sequence: i64,
    /// The kernel's number of the thread.
    pub thread: Option<i64>,
    /// Nanoseconds since 1970.
    pub start: i64,
    /// Nanoseconds.
    pub took: i64,
    /// The layer.
    pub layer: &'a str,
    /// What it does.
    pub op: &'a str,
    /// The function.
    pub function: &'a str,
    /// The file, or the object in it.
    pub file: Option<RecordId>,
    /// The path of the file.
    pub path: Option<&'a str>,
    /// The name of the object in it.
    pub data_set: Option<&'a str>,
    /// Where in the file.
    pub offset: Option<i64>,
    /// Bytes asked for.
    pub length: i64,
    /// Bytes moved.
    pub bytes: i64,
    /// What it gave, where that is neither bytes nor an error.
    pub result: Option<i64>,
    /// The error's number.
    pub error: Option<u32>,
    /// What else was asked.
    pub argument: Option<i64>,
    /// Its number, where it encloses others.
    pub number: i64,
    /// The number of the call around it.
    pub parent: i64,
    /// Who called.
    pub site: Option<&'a str>,
    /// Where the row is from.
    pub source: &'a str,
}

/// The account of one lane of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The process's number in the job.
    pub rank: i64,
    /// The process's name for ever.
    pub process: i64,
    /// The lane.
    pub lane: i64,
    /// Calls made.
    pub calls: u64,
    /// Events written.
    pub produced: u64,
    /// Events not written, by reason.
    pub dropped: Vec<(Loss, u64)>,
    /// Calls by function, where the source tells.
    pub by_function: Vec<(String, u64)>,
}

/// A call site with its stack, innermost frame first: object, build id in digits, address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The process's name for ever.
    pub process: i64,
    /// Its name in events.
    pub site: String,
    /// Its frames.
    pub frames: Vec<(Option<(String, String)>, i64)>,
}

/// The order in which calls come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By process, lane and place in the lane: the order of a segment.
    Lane,
    /// By lane and place in it: the order of an extended trace in its log.
    Log,
    /// By process, and then in the order in which calls ended.
    End,
}

impl Recall {
    /// Where its calls are from: `segment`, `stream`, `dxt`, `connector`; empty if it has none.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn sources(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        self.rows("events", "DISTINCT source", "ORDER BY source", &mut |columns, rows| {
            let source = columns.texts("source")?;
            found.extend((0..rows).filter_map(|row| source.get(row).map(str::to_owned)));
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Its calls.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn calls(
        &self,
        order: Order,
        layer: Option<&str>,
        each: &mut dyn FnMut(&Called<'_>),
    ) -> Result<()> {
        let order = match order {
            Order::Lane => "ORDER BY rank, process, lane, sequence",
            Order::Log => "ORDER BY lane, sequence, rank, process",
            Order::End => {
                "ORDER BY rank, process, CAST(t AS BIGINT) * 1000 + t_ns + duration, lane, sequence"
            }
        };
        let what = "rank, process, pid, node, exe, lane, sequence, thread, t, t_ns, duration, \
                    layer, op, function, file_id, file, data_set, \"offset\", length, bytes, result, argument, error, \
                    number, parent, site, source";
        let only = layer.map_or(String::new(), |layer| format!("AND layer = {} ", quoted(layer)));
        let rest = format!("{only}{order}");
        self.rows("events", what, &rest, &mut |columns, rows| {
            let long = |name: &str| columns.longs(name);
            let text = |name: &str| columns.texts(name);
            let (rank, process, pid) = (long("rank")?, long("process")?, long("pid")?);
            let (lane, sequence, thread) = (long("lane")?, long("sequence")?, long("thread")?);
            let (t, t_ns, duration) =
                (columns.times("t")?, columns.shorts("t_ns")?, long("duration")?);
            let (layer, op, function) = (text("layer")?, text("op")?, text("function")?);
            let (file, offset, length) = (long("file_id")?, long("offset")?, long("length")?);
            let (bytes, result, error) = (long("bytes")?, long("result")?, text("error")?);
            let argument = long("argument")?;
            let (path, data_set) = (text("file")?, text("data_set")?);
            let (number, parent, site) = (long("number")?, long("parent")?, text("site")?);
            let (node, exe, source) = (text("node")?, text("exe")?, text("source")?);
            for row in 0..rows {
                let rest = if t_ns.is_valid(row) { t_ns.value(row) } else { 0 };
                each(&Called {
                    rank: rank.get(row).unwrap_or(-1),
                    process: process.get(row).unwrap_or(0),
                    pid: pid.get(row).unwrap_or(0),
                    node: node.get(row).unwrap_or_default(),
                    exe: exe.get(row).unwrap_or_default(),
                    lane: lane.get(row).unwrap_or(0),
                    sequence: sequence.get(row).unwrap_or(0),
                    thread: thread.get(row),
                    start: t.value(row).saturating_mul(1000).saturating_add(i64::from(rest)),
                    took: duration.get(row).unwrap_or(0),
                    layer: layer.get(row).unwrap_or_default(),
                    op: op.get(row).unwrap_or_default(),
                    function: function.get(row).unwrap_or_default(),
                    file: file.get(row).map(|id| RecordId(id.cast_unsigned())),
                    path: path.get(row),
                    data_set: data_set.get(row),
                    offset: offset.get(row),
                    length: length.get(row).unwrap_or(0),
                    bytes: bytes.get(row).unwrap_or(0),
                    result: result.get(row),
                    error: error.get(row).map(errno::number),
                    argument: argument.get(row),
                    number: number.get(row).unwrap_or(0),
                    parent: parent.get(row).unwrap_or(0),
                    site: site.get(row),
                    source: source.get(row).unwrap_or_default(),
                });
            }
            Ok(())
        })
        .await
    }

    /// The accounts of its lanes.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn accounts(&self) -> Result<Vec<Account>> {
        let mut found = Vec::new();
        self.rows("ledger", "*", "ORDER BY rank, process, lane", &mut |columns, rows| {
            let long = |name: &str| columns.longs(name);
            let (rank, process, lane) = (long("rank")?, long("process")?, long("lane")?);
            let (calls, produced) = (long("calls")?, long("produced")?);
            let calls_of = columns.texts("calls_of")?;
            let losses = Loss::ALL
                .iter()
                .map(|&loss| Ok((loss, columns.longs(&format!("dropped_{}", loss.slug()))?)));
            let losses = losses.collect::<Result<Vec<_>>>()?;
            for row in 0..rows {
                let count = |number: Option<i64>| number.unwrap_or(0).max(0).cast_unsigned();
                let dropped = losses.iter().map(|(loss, column)| (*loss, count(column.get(row))));
                let by_function = calls_of.get(row).unwrap_or_default().split(',');
                let by_function = by_function.filter_map(|pair| {
                    let (name, calls) = pair.split_once('=')?;
                    Some((name.to_owned(), calls.parse().ok()?))
                });
                found.push(Account {
                    rank: rank.get(row).unwrap_or(-1),
                    process: process.get(row).unwrap_or(0),
                    lane: lane.get(row).unwrap_or(0),
                    calls: count(calls.get(row)),
                    produced: count(produced.get(row)),
                    dropped: dropped.filter(|loss| loss.1 > 0).collect(),
                    by_function: by_function.collect(),
                });
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Its call sites.
    ///
    /// # Errors
    /// The store can not be read.
    pub async fn sites(&self) -> Result<Vec<Site>> {
        let mut found: Vec<Site> = Vec::new();
        self.rows("sites", "*", "ORDER BY process, site, depth", &mut |columns, rows| {
            let (process, site) = (columns.longs("process")?, columns.texts("site")?);
            let (object, build_id) = (columns.texts("object")?, columns.texts("build_id")?);
            let (depth, address) = (columns.longs("depth")?, columns.longs("address")?);
            for row in 0..rows {
                let (process, name) =
                    (process.get(row).unwrap_or(0), site.get(row).unwrap_or_default());
                let same = |known: &Site| known.process == process && known.site == name;
                let begins = depth.get(row).unwrap_or(0) == 0;
                if begins || !found.last().is_some_and(same) {
                    found.push(Site { process, site: name.to_owned(), frames: Vec::new() });
                }
                let digits = build_id.get(row).unwrap_or_default().to_owned();
                let object = object.get(row).map(|path| (path.to_owned(), digits));
                if let Some(site) = found.last_mut() {
                    site.frames.push((object, address.get(row).unwrap_or(0)));
                }
            }
            Ok(())
        })
        .await?;
        Ok(found)
    }
}
