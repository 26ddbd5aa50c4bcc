//! The commands: one file each, one row here.

mod account;
#[cfg(feature = "store")]
mod analyse;
mod calling;
mod compare;
mod convert;
mod daemon;
mod diff;
mod doctor;
mod dxt;
#[cfg(feature = "store")]
mod events;
mod explain;
mod export;
mod history;
#[cfg(feature = "store")]
mod import;
mod info;
#[cfg(feature = "store")]
mod jobs;
mod ledger;
mod merge;
mod parse;
#[cfg(feature = "store")]
mod password;
#[cfg(feature = "store")]
mod postgres;
mod publish;
mod reading;
pub(crate) mod recover;
mod report;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod settings;
#[cfg(feature = "store")]
mod sql;
#[cfg(feature = "store")]
mod store;
mod subscribe;
#[cfg(feature = "serve")]
mod top;

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::outcome::Outcome;
use crate::{terminal, version};

/// Shows what an application does to its files.
#[derive(Debug, Parser)]
#[command(name = "netra", arg_required_else_help = true)]
pub(crate) struct Netra {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all is well; 1 something was missing from a log, or logs differ; 2 nothing could be
read; 64 wrong usage.";

/// What stands where in the help: groups by what somebody wants, and their commands.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Record a run, and read about it",
        &["run", "report", "explain", "compare", "history", "info", "recover"],
    ),
    ("Look at every number and call of a log", &["parse", "dxt", "export", "diff"]),
    ("Make logs of logs", &["merge", "convert"]),
    ("Watch jobs while they run", &["top", "serve", "subscribe", "publish"]),
    ("Keep jobs, and ask about them", &["import", "jobs", "events", "sql", "analyse", "store"]),
    ("Set it up", &["doctor", "settings", "daemon", "ledger", "postgres", "password"]),
];

/// What stands before the second line of a row.
const HANG: &str = "             ";

const LAYOUT: &str = "\
{about-with-newline}
{usage-heading} {usage}
{before-help}
Options:
{options}{after-help}";

/// The program with all its words, its help in groups.
pub(crate) fn program() -> clap::Command {
    // What the program is described with lives as long as the program.
    let version: &'static str = version::line().leak();
    let program = Netra::command().version(version).help_template(LAYOUT);
    let groups = groups(&program);
    program.before_help(groups).after_help(EXIT_CODES)
}

fn groups(program: &clap::Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let about = |name: &&'static str| {
            let about = program.find_subcommand(name)?.get_about()?;
            Some((*name, about.to_string()))
        };
        let mut rows = names.iter().filter_map(about).peekable();
        if rows.peek().is_some() {
            // Writing to a text does not fail.
            let _ok = writeln!(text, "\n{title}:");
        }
        for (name, about) in rows {
            let row = format!("  {name:<9}  {about}");
            for line in terminal::wrapped(&row, terminal::width(), HANG) {
                let _ok = writeln!(text, "{line}");
            }
        }
    }
    text + "\nnetra help COMMAND has its options and examples."
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command, record what it does to its files, and say it in a few lines
    Run(run::Args),
    /// Make logs of what killed processes had recorded
    Recover(recover::Args),
    /// Say what would not work here, and why
    Doctor(doctor::Args),
    /// Show every setting, its value, where that came from, and its page
    Settings(settings::Args),
    /// Say what a rule looks at, where its limits are, what it takes for the cost, and what to change
    Explain(explain::Args),
    /// Read segments or take connections, and pass everything on
    Daemon(daemon::Args),
    /// Say whether anything of a job is missing: produced, delivered, dropped, in flight
    Ledger(ledger::Args),
    /// Show a log on one screen: job, time in I/O, layers, top files, completeness
    Info(info::Args),
    /// Say what is wrong, what it costs and what to change
    Report(report::Args),
    /// Look at many runs of a program: how much they vary, which were unusual, and when
    History(history::Args),
    /// Compare two runs: what changed, which findings went or came, did it help
    Compare(compare::Args),
    /// Print every counter of logs, in the lines of darshan-parser
    Parse(parse::Args),
    /// Print every read and write of logs with an extended trace, in the lines of darshan-dxt-parser
    Dxt(dxt::Args),
    /// Write the events of logs or segments for other programs
    Export(export::Args),
    /// Put logs, segments and the connector's files into the store, each once
    #[cfg(feature = "store")]
    Import(import::Args),
    /// Make one log of the logs of several processes
    Merge(merge::Args),
    /// Write logs again: other compression, fewer files, nothing that identifies people or places
    Convert(convert::Args),
    /// Compare the counters of two logs
    Diff(diff::Args),
    /// Show running jobs on a page, for browsers
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Show running jobs in the terminal
    #[cfg(feature = "serve")]
    Top(top::Args),
    /// Say what a store holds and whether it is right, put its files together, remove old rows
    #[cfg(feature = "store")]
    Store(store::Args),
    /// Ask the store in SQL
    #[cfg(feature = "store")]
    Sql(sql::Args),
    /// List the jobs of the store
    #[cfg(feature = "store")]
    Jobs(jobs::Args),
    /// Show what a job of the store did, call by call
    #[cfg(feature = "store")]
    Events(events::Args),
    /// Run an analysis module over the store
    #[cfg(feature = "store")]
    #[command(alias = "analyze")]
    Analyse(analyse::Args),
    /// Make a line for the file of users who may ask over a network
    #[cfg(feature = "store")]
    Password(password::Args),
    /// Let clients of PostgreSQL ask the store
    #[cfg(feature = "store")]
    Postgres(postgres::Args),
    /// Publish messages under a tag
    Publish(publish::Args),
    /// Get the events of running jobs, or what is published under a tag
    Subscribe(subscribe::Args),
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let outcome: Result<Outcome> = match self {
            Command::Run(args) => return run::run(&args),
            Command::Recover(args) => return recover::run(&args),
            Command::Doctor(args) => return doctor::run(&args),
            Command::Settings(args) => return settings::run(&args),
            Command::Explain(args) => return explain::run(&args),
            Command::Daemon(args) => return daemon::run(&args),
            Command::Ledger(args) => return ledger::run(&args),
            #[cfg(feature = "serve")]
            Command::Serve(args) => return serve::run(&args),
            #[cfg(feature = "serve")]
            Command::Top(args) => return top::run(&args),
            #[cfg(feature = "store")]
            Command::Store(args) => return store::run(&args),
            #[cfg(feature = "store")]
            Command::Sql(args) => return sql::run(args),
            #[cfg(feature = "store")]
            Command::Jobs(args) => return jobs::run(args),
            #[cfg(feature = "store")]
            Command::Events(args) => return events::run(args),
            #[cfg(feature = "store")]
            Command::Analyse(args) => return analyse::run(&args),
            #[cfg(feature = "store")]
            Command::Password(args) => return password::run(&args),
            #[cfg(feature = "store")]
            Command::Postgres(args) => return postgres::run(&args),
            Command::Info(args) => info::run(&args),
            Command::Report(args) => report::run(&args),
            Command::History(args) => history::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Parse(args) => parse::run(&args),
            Command::Dxt(args) => dxt::run(&args),
            Command::Export(args) => export::run(&args),
            #[cfg(feature = "store")]
            Command::Import(args) => import::run(&args),
            Command::Merge(args) => merge::run(&args),
            Command::Convert(args) => convert::run(&args),
            Command::Diff(args) => diff::run(&args),
            Command::Publish(args) => publish::run(&args),
            Command::Subscribe(args) => subscribe::run(&args),
        };
        outcome.map(|outcome| outcome.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_every_option_makes_sense() {
        let program = program();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let repeated = grouped.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(repeated, None, "a command stands in two groups");
        for command in program.get_subcommands() {
            let name = command.get_name();
            assert!(grouped.contains(&name), "{name} needs a row in GROUPS");
        }
        program.debug_assert();
    }
}
