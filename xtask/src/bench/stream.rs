//! Events on their way: what a live reader costs the application, what node and hub cost for each event,
//! how long an event takes over two hops, and a run in the shape of the authors' HMMER case. Every number is of
//! real processes under the real library; a run that loses an event fails. `LDMS_PREFIX=` names an installation of
//! LDMS to send the same messages through.

mod latency;
mod ldms;
mod search;
mod site;

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};

use self::site::{Site, cost};
use super::measured::{self, Row, Target};
use crate::place::{output, root, run as start};

/// Calls of the producer; `cargo xtask bench stream CALLS` chooses another number.
const CALLS: u64 = 2_000_000;
/// Runs; of what is compared, each is a pair, without the library and with it.
const ROUNDS: usize = 5;

/// Places of the first rows.
const APPLICATION: usize = 0;
const NODE: usize = 1;
const HUB: usize = 2;

fn row(command: &str, name: &str, unit: &'static str, value: f64, target: Target) -> Row {
    let (name, command) = (name.to_owned(), command.to_owned());
    Row { name, unit, command, value, peer: None, target }
}

/// `cargo xtask bench stream [CALLS]`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let calls = words.first().map_or(Ok(CALLS), |word| word.parse()).context("CALLS")?;
    let site = Site::new()?;
    let daemons = site.start()?;
    let mut rows = vec![application(&site)?];
    rows.extend(throughput(&site, &daemons, calls)?);
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
    let four = "4 × search 400000 24 under node, hub, hub";
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
    if let Some(peer) = ldms::measure(&site)? {
        beside(&mut rows, &peer);
    }
    measured::keep("stream", &rows)
}

/// Puts LDMS's numbers beside ours.
fn beside(rows: &mut Vec<Row>, ldms: &ldms::Ldms) {
    let name = |part: &str| format!("LDMS, {part}");
    rows[APPLICATION].peer =
        Some((name("publishing a message that is ready"), ldms.publisher * 1e3));
    rows[NODE].peer = Some((name("first daemon"), ldms.first));
    rows[HUB].peer = Some((name("second daemon"), ldms.second));
    // A run of ours that loses an event is an error, and nothing is kept.
    rows.push(Row {
        peer: Some((name("which the first daemon never received"), ldms.lost)),
        ..row("a burst, then the end", "events lost", "%", 0.0, Target::Below(1e-9))
    });
}

/// Nanoseconds that an event costs the application while a daemon reads behind it.
fn application(site: &Site) -> Result<Row> {
    let program = site.folder.join("through");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&program).arg(root().join("xtask/bench/through.c"));
    start(&mut compile)?;
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let more = |job: Option<&str>| -> Result<f64> {
            let mut command = Command::new(&program);
            command.arg(site.memory.join("through")).args(["1000", "1000"]);
            if let Some(job) = job {
                site.record(&mut command, job);
            }
            Ok(String::from_utf8_lossy(&output(&mut command)?).trim().parse()?)
        };
        let (bare, job) = (more(None)?, format!("through{round}"));
        all.push(more(Some(&job))? - bare);
        site.settle(&job, 1)?;
    }
    all.sort_by(f64::total_cmp);
    let name = "an event in the application, with a live reader";
    Ok(row(
        "through 1000 1000 under node, hub, hub",
        name,
        "ns",
        all[ROUNDS / 2],
        Target::Below(45.0),
    ))
}

/// What node and hubs take for each event of bursts.
fn throughput(site: &Site, daemons: &site::Daemons, calls: u64) -> Result<Vec<Row>> {
    let burst = Site::program("burst")?;
    let before = [daemons.node.seconds()?, daemons.near.seconds()?, daemons.far.seconds()?];
    let (mut took, mut events) = (f64::INFINITY, 0);
    for round in 0..ROUNDS {
        let mut producer = Command::new(&burst);
        producer.arg(site.memory.join("data")).arg(calls.to_string());
        let (job, began) = (format!("burst{round}"), Instant::now());
        cost(site.record(&mut producer, &job))?;
        let arrived = site.settle(&job, 1)?;
        took = took.min(began.elapsed().as_secs_f64() * 1e6 / arrived as f64);
        events += arrived;
    }
    let after = [daemons.node.seconds()?, daemons.near.seconds()?, daemons.far.seconds()?];
    let each = |at: usize| (after[at] - before[at]) * 1e6 / events as f64;
    let command = format!("{ROUNDS} × burst {calls} under node, hub, hub");
    let per = |name: &str, value, limit| row(&command, name, "µs", value, Target::Below(limit));
    Ok(vec![
        // Two million a second on one core would be 0.5; the other target is the harder one.
        per("node: processor time an event", each(0), 0.2),
        per("hub: processor time an event, received, checked, sent on", each(1), 1.0),
        per("hub: processor time an event, received, checked, to a null sink", each(2), 1.0),
        per("two hops: time an event, all processes on this machine", took, 2.0),
    ])
}
