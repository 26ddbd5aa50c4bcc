//! `cargo xtask bench NAME`: measures, side by side with its peers, and keeps the result in
//! `docs/measured/`.
//!
//! A benchmark is one row in [`BENCHES`] and one file.

mod capture;
mod contest;
mod follow;
mod live;
mod measured;
mod page;
mod parallel;
mod parse;
mod python;
mod report;
mod store;
mod stream;

use anyhow::{Result, bail};

use crate::place::{cargo, run as start};

struct Bench {
    name: &'static str,
    says: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "capture",
        says: "the cost of a hooked call; DARSHAN_LIB= names Darshan's library to compare with",
        run: capture::run,
    },
    Bench {
        name: "live",
        says: "the live page: its server's processor time, what an update costs a browser, event to pixel",
        run: live::run,
    },
    Bench {
        name: "parse",
        says: "reading logs: netra, the C tools (where on the PATH) and PyDarshan",
        run: parse::run,
    },
    Bench {
        name: "python",
        says: "traces into data frames: our Python package and PyDarshan",
        run: python::run,
    },
    Bench {
        name: "page",
        says: "report pages: making, opening and zooming, beside PyDarshan, Drishti and DXT Explorer",
        run: page::run,
    },
    Bench {
        name: "parallel",
        says: "jobs of MPI: MPI_Finalize and IOR's requests; DARSHAN_MPI_LIB= names Darshan's library to compare with",
        run: parallel::run,
    },
    Bench {
        name: "report",
        says: "diagnosing logs: netra, Drishti and PyDarshan",
        run: report::run,
    },
    Bench {
        name: "store",
        says: "a hundred million events: committing, size and questions, beside DuckDB and SQLite",
        run: store::run,
    },
    Bench {
        name: "stream",
        says: "events over two hops: what they cost the application, the node and the hub; LDMS_PREFIX= names an LDMS to compare with",
        run: stream::run,
    },
];

/// Runs one benchmark.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let name = words.first().map_or("", String::as_str);
    if let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) {
        return (bench.run)(&words[1..]);
    }
    println!("usage: cargo xtask bench NAME\n");
    for bench in BENCHES {
        println!("  {:<10} {}", bench.name, bench.says);
    }
    if name.is_empty() { Ok(()) } else { bail!("there is no benchmark `{name}`") }
}

/// Builds `netra` without its store: what is measured here does not touch it, and its dependencies take half an hour in
/// this profile.
fn light_program(profile: &str) -> Result<()> {
    let words = ["build", "--profile", profile, "--package", "netra-cli", "--no-default-features"];
    start(&mut cargo(&words))
}
