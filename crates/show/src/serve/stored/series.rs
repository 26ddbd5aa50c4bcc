//! What a stored job did second by second, and its nodes with it: as the live page has it of a running one.

use std::collections::BTreeMap;

use netra_event::Kind;
use netra_store::ask::{Error, Session};
use netra_stream::sample::Value as Measured;

use super::row::{Row, quoted, rows};
use crate::live::{Host, LAYERS, Series, Step, Way};

/// Steps of a job's series.
const STEPS: u64 = 4096;

/// A job's stretch of time, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Span {
    /// Seconds of a step: a power of two, so that there are not too many.
    pub(super) fn width(self) -> u64 {
        let mut width: u64 = 1;
        while (self.to.saturating_sub(self.from)) / width >= STEPS {
            width *= 2;
        }
        width
    }
}

/// The way of calls by the name of their kind.
pub(super) fn way(row: &Row) -> Option<Way> {
    let op = row.text("op");
    Way::of(*Kind::ALL.iter().find(|kind| kind.name() == op)?)
}

/// The number of a layer by its name.
fn layer(row: &Row) -> Option<usize> {
    let name = row.text("layer");
    LAYERS.iter().position(|layer| layer.name() == name)
}

/// Calls, bytes and time by layer and way.
pub(super) async fn steps(session: &Session, key: &str, span: Span) -> Result<Series<Step>, Error> {
    let width = span.width();
    let sql = format!(
        "SELECT CAST(t AS BIGINT) / 1000000 / {width} * {width} AS at, layer, op, \
         sum(calls) AS calls, sum(bytes) AS bytes, sum(time) AS time \
         FROM activity WHERE job = {} GROUP BY 1, 2, 3 ORDER BY 1",
        quoted(key)
    );
    let mut series = Series::<Step>::of_width(width, usize::try_from(STEPS).unwrap_or(usize::MAX));
    for row in rows(session, &sql).await? {
        let (Some(layer), Some(way)) = (layer(&row), way(&row)) else { continue };
        let cell = &mut series.at(row.count("at"), 1).cells.0[layer][way as usize];
        cell.calls += row.count("calls");
        cell.bytes += row.count("bytes");
        cell.nanos += row.count("time");
    }
    Ok(series)
}

/// Durations that half, 95 and 99 of 100 reads and writes do not exceed, by step and way.
pub(super) type Durations = BTreeMap<(u64, usize), [u64; 4]>;

/// Calls and percentiles of durations of the lowest layers, by step and way.
pub(super) async fn durations(
    session: &Session,
    key: &str,
    span: Span,
) -> Result<Durations, Error> {
    let width = span.width();
    let of = |share: &str| format!("approx_percentile_cont(duration, {share})");
    let sql = format!(
        "SELECT CAST(t AS BIGINT) / 1000000 / {width} * {width} AS at, op, count(*) AS calls, \
         {} AS half, {} AS most, {} AS nearly FROM events WHERE job = {} \
         AND op IN ('read', 'write') AND layer IN ('POSIX', 'STDIO') GROUP BY 1, 2",
        of("0.5"),
        of("0.95"),
        of("0.99"),
        quoted(key)
    );
    let mut all = Durations::new();
    for row in rows(session, &sql).await? {
        let Some(way) = way(&row) else { continue };
        // Between two calls there is no whole nanosecond.
        let of = |name: &str| row.float(name).unwrap_or(0.0).round() as u64;
        let values = [row.count("calls"), of("half"), of("most"), of("nearly")];
        all.insert((row.count("at"), way as usize), values);
    }
    Ok(all)
}

/// What the nodes of a job measured of themselves while it ran, and what servers published: by name.
pub(super) async fn hosts(
    session: &Session,
    nodes: &[String],
    span: Span,
) -> Result<BTreeMap<String, Host>, Error> {
    let mut all: BTreeMap<String, Host> = BTreeMap::new();
    if nodes.is_empty() {
        return Ok(all);
    }
    let names: Vec<String> = nodes.iter().map(|node| quoted(node)).collect();
    let micros = |seconds: u64| seconds.saturating_mul(1_000_000);
    let sql = format!(
        "SELECT node, target, name, CAST(t AS BIGINT) AS t, value, count, rises, source FROM metrics \
         WHERE (node IN ({}) OR source = 'message') AND CAST(t AS BIGINT) BETWEEN {} AND {} ORDER BY node, name, target, t",
        names.join(", "),
        micros(span.from.saturating_sub(5)),
        micros(span.to + 5),
    );
    for row in rows(session, &sql).await? {
        let rises = row.0.get("rises").and_then(serde_json::Value::as_bool).unwrap_or(false);
        let value = match row.whole("count") {
            Some(count) if rises => Measured::Count(count.cast_unsigned()),
            _ => Measured::Gauge(row.float("value").unwrap_or(0.0)),
        };
        let host = all.entry(row.text("node")).or_default();
        if row.text("source") == "message" && !nodes.contains(&row.text("node")) {
            host.server.get_or_insert_with(|| row.text("node"));
        }
        let time = row.count("t").saturating_mul(1000);
        host.value((&row.text("target"), &row.text("name")), time, value, 1);
    }
    Ok(all)
}
