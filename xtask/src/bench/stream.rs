//! Events on their way: what a live reader costs the application, what node and hub cost for each event,
//! how long an event takes over two hops, and a run in the shape of the authors' HMMER case. Every number is of
//! real processes under the real library; a run that loses an event fails.

mod latency;
mod search;
mod site;

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};

use self::site::{Site, cost};
use super::measured::{self, Row, Target};

/// Calls of the producer; `cargo xtask bench stream CALLS` chooses another number.
const CALLS: u64 = 2_000_000;
/// Pairs of runs, without the library and with it; the quickest of each counts.
const ROUNDS: usize = 5;

fn row(command: &str, name: &str, unit: &'static str, value: f64, target: Target) -> Row {
    let (name, command) = (name.to_owned(), command.to_owned());
    Row { name, unit, command, value, peer: None, target }
}

/// `cargo xtask bench stream [CALLS]`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let calls = words.first().map_or(Ok(CALLS), |word| word.parse()).context("CALLS")?;
    let site = Site::new()?;
    let daemons = site.start()?;
    let mut rows = throughput(&site, &daemons, calls)?;
    let latency = latency::measure(&site)?;
    let paced = "paced 10000 5 under node, hub, hub; netra subscribe io at the last";
    let (middle, most) = (latency.share(0.5), latency.share(0.99));
    rows.push(row(
        paced,
        "two hops, 10,000 events a second: half within",
        "ms",
        middle,
        Target::Shown,
    ));
    rows.push(row(
        paced,
        "two hops, 10,000 events a second: 99 % within",
        "ms",
        most,
        Target::Below(20.0),
    ));
    let found = search::measure(&site, &daemons.node)?;
    let four = "4 × search 400000 30 under node, hub, hub";
    let more = (found.live / found.bare - 1.0) * 100.0;
    rows.push(row(four, "4 readers of lines: more processor time", "%", more, Target::Below(5.0)));
    rows.push(row(
        four,
        "4 readers of lines: an event",
        "µs",
        1e6 / found.rate,
        Target::Below(2.0),
    ));
    rows.push(row(
        four,
        "4 readers of lines: the node's processor time",
        "s",
        found.node,
        Target::Shown,
    ));
    rows.push(row(
        four,
        "4 readers of lines: their own processor time",
        "s",
        found.live,
        Target::Shown,
    ));
    let memory = daemons.node.memory()?;
    rows.push(row("all of the above", "node: memory", "MiB", memory, Target::Below(64.0)));
    if std::env::var_os("LDMS_PREFIX").is_some() {
        println!("LDMS_PREFIX is set, but nothing here measures LDMS yet");
    }
    measured::keep("stream", &rows)
}

fn throughput(site: &Site, daemons: &site::Daemons, calls: u64) -> Result<Vec<Row>> {
    let burst = Site::program("burst")?;
    let producer = || {
        let mut command = Command::new(&burst);
        command.arg(site.folder.join("data")).arg(calls.to_string());
        command
    };
    let (mut bare, mut live, mut events) = (f64::INFINITY, f64::INFINITY, 0);
    let before = [daemons.node.seconds()?, daemons.near.seconds()?, daemons.far.seconds()?];
    let mut took = f64::INFINITY;
    for round in 0..ROUNDS {
        bare = bare.min(cost(&mut producer())?);
        let (job, began) = (format!("burst{round}"), Instant::now());
        live = live.min(cost(site.record(&mut producer(), &job))?);
        let arrived = site.settle(&job, 1)?;
        took = took.min(began.elapsed().as_secs_f64() * 1e6 / arrived as f64);
        events += arrived;
    }
    let after = [daemons.node.seconds()?, daemons.near.seconds()?, daemons.far.seconds()?];
    let each = |at: usize| (after[at] - before[at]) * 1e6 / events as f64;
    let command = format!("{ROUNDS} × burst {calls} under node, hub, hub");
    let per =
        |name: &str, unit, value, limit| row(&command, name, unit, value, Target::Below(limit));
    Ok(vec![
        per(
            "an event in the application, with a live reader",
            "ns",
            (live - bare) * 1e9 / calls as f64,
            45.0,
        ),
        // Two million a second on one core would be 0.5; the other target is the harder one.
        per("node: processor time an event", "µs", each(0), 0.2),
        per("hub: processor time an event, received, checked, sent on", "µs", each(1), 1.0),
        per("hub: processor time an event, received, checked, to a null sink", "µs", each(2), 1.0),
        per("two hops: time an event, all processes on this machine", "µs", took, 2.0),
    ])
}
