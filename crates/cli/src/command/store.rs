//! `netra store`: what a store holds, whether it is right, and keeping it small.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use netra_event::Bytes;
use netra_store::Store;
use netra_store::maintain::{Compacted, LINGER, Problem};
use netra_store::schema::TABLES;
use netra_stream::daemon;

use crate::output;

const EXAMPLES: &str = "\
A daemon with a store sink does all this by itself, at low priority; by hand it is for a store that
nobody keeps, and for looking. Readers see a table before or after a change, never between.

Examples:
  netra store stats                              what is there: files, rows, bytes, days
  netra store check --deep                       read every byte, compare events with the ledger
  netra store check --repair                     remove what arrived twice, and say what is still wrong
  netra store restore                            rows set aside while a table was damaged enter it
  netra store compact                            put small files together
  netra store expire events --keep 30d           rows older than that go
  netra store expire events --size 100GiB       the oldest days go until it fits";

/// What to do with which store.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store [default: NETRA_STORE, or the user's own]
    #[arg(long, value_name = "DIR|URL", global = true)]
    store: Option<String>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say what every table holds
    Stats,
    /// Say what is not as it was written; exit code 1 if anything is not
    Check {
        /// Read every file from its first to its last byte
        #[arg(long)]
        deep: bool,
        /// First remove rows that arrived twice, because a hub that was given up came back, and put sums of them right
        #[arg(long)]
        repair: bool,
    },
    /// Bring rows that came while a table was damaged, and were set aside, into it; exit code 1 if that is still not possible
    Restore,
    /// Put small files together, and remove what no version needs any more
    Compact {
        /// Only this table
        #[arg(value_name = "TABLE")]
        table: Option<String>,
    },
    /// Remove old rows of a table
    Expire {
        /// The table
        #[arg(value_name = "TABLE")]
        table: String,
        /// Rows older than this go, such as 30d
        #[arg(long, value_name = "TIME", value_parser = daemon::duration, required_unless_present = "limit")]
        keep: Option<Duration>,
        /// The oldest go until the table is no longer than this, such as 100GiB
        #[arg(long = "size", alias = "limit", value_name = "SIZE", value_parser = daemon::size)]
        limit: Option<u64>,
    },
}

/// Something is not as it should be.
const WRONG: u8 = 1;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let place = crate::stored::place(args.store.as_deref())?;
    let store = Store::open(place)?;
    let runtime = tokio::runtime::Runtime::new().context("starting the runtime")?;
    let mut out = output::standard()?;
    let well = runtime.block_on(work(&store, &args.what, &mut out))?;
    out.finish()?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::from(WRONG) })
}

async fn work(store: &Store, what: &What, out: &mut dyn std::io::Write) -> Result<bool> {
    match what {
        What::Stats => stats(store, out).await,
        What::Check { deep, repair } => {
            let mut problems = if *repair { self::repair(store, out).await? } else { Vec::new() };
            for found in store.check(*deep).await {
                // What kept the repair from a table keeps the check from it, too.
                if !problems.contains(&found) {
                    problems.push(found);
                }
            }
            for problem in &problems {
                writeln!(out, "{problem}")?;
            }
            if problems.is_empty() {
                writeln!(out, "{} is in order", store.place())?;
            }
            Ok(problems.is_empty())
        }
        What::Restore => restore(store, out).await,
        What::Compact { table } => {
            let all = || TABLES.iter().map(|table| table.name.to_owned()).collect();
            for table in table.clone().map_or_else(all, |table| vec![table]) {
                let Compacted { before, after, repaired } = store.compact(&table, 2).await?;
                store.checkpoint(&table, 1).await?;
                let removed = store.clean(&table, LINGER).await?;
                if before + removed > 0 {
                    writeln!(out, "{table}: {before} files became {after}, {removed} removed")?;
                }
                for repaired in repaired {
                    writeln!(out, "{repaired}")?;
                }
            }
            Ok(true)
        }
        What::Expire { table, keep, limit } => {
            let (files, bytes) = store.expire(table, *keep, *limit).await?;
            writeln!(out, "{table}: {files} files, {} have expired", Bytes(bytes))?;
            Ok(true)
        }
    }
}

/// Removes what arrived twice; gives what could not be done.
async fn repair(store: &Store, out: &mut dyn std::io::Write) -> Result<Vec<Problem>> {
    let (repaired, problems) = store.repair().await;
    for repaired in &repaired {
        writeln!(out, "{repaired}")?;
    }
    Ok(problems)
}

async fn restore(store: &Store, out: &mut dyn std::io::Write) -> Result<bool> {
    let restored = store.restore_all().await?;
    if restored.is_empty() {
        writeln!(out, "nothing is set aside")?;
    }
    let mut well = true;
    for (table, restored) in restored {
        match restored {
            Ok(rows) => writeln!(out, "{table}: {rows} rows entered it")?,
            Err(error) => {
                well = false;
                writeln!(out, "{table}: {error}")?;
            }
        }
    }
    Ok(well)
}

async fn stats(store: &Store, out: &mut dyn std::io::Write) -> Result<bool> {
    // First, since it fails at once where storage is away; each of the tables would try for long.
    let aside = store.aside().await?;
    let mut well = true;
    writeln!(
        out,
        "{:<14} {:>8} {:>14} {:>10} {:>8}  days",
        "table", "files", "rows", "size", "version"
    )?;
    for (table, stats) in store.stats().await {
        match stats {
            Ok(stats) => {
                let rows = stats.rows.map_or("?".to_owned(), |rows| rows.to_string());
                let days =
                    stats.days.map_or(String::new(), |(first, last)| format!("{first} to {last}"));
                let size = Bytes(stats.bytes).to_string();
                writeln!(
                    out,
                    "{table:<14} {:>8} {rows:>14} {size:>10} {:>8}  {days}",
                    stats.files, stats.version
                )?;
            }
            Err(error) => {
                well = false;
                writeln!(out, "{table:<14} {error}")?;
            }
        }
    }
    for of_table in aside.chunk_by(|a, b| a.table == b.table) {
        let Some(table) = of_table.first().map(|aside| aside.table) else { continue };
        let rows: u64 = of_table.iter().map(|aside| aside.rows).sum();
        let size = Bytes(of_table.iter().map(|aside| aside.bytes).sum()).to_string();
        writeln!(
            out,
            "{table:<14} {:>8} {rows:>14} {size:>10} {:>8}  set aside",
            of_table.len(),
            "-"
        )?;
    }
    Ok(well)
}
