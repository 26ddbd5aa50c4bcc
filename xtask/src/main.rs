//! Everything one does with this repository: `cargo xtask demo`, `test`, `tidy`, …
//!
//! A command is one row in [`COMMANDS`] and one file; the help text follows from the rows.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a build tool talks to the person who called it")]

mod artifact;
mod bench;
mod compare;
mod demo;
mod gallery;
mod install;
mod place;
mod python;
mod quote;
mod reference;
mod step;
mod symbols;
mod test;
mod tidy;
mod web;
mod workload;

use std::process::ExitCode;

use anyhow::{Result, bail};

/// One word after `cargo xtask`.
struct Command {
    name: &'static str,
    /// One line for the help text: what one gets.
    says: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command { name: "demo", says: "build netra and show what it does", run: demo::run },
    Command {
        name: "test",
        says: "install what tests need, run everything (--long: more)",
        run: test::run,
    },
    Command {
        name: "compare",
        says: "run the end-to-end programs under Darshan too: compare darshan, with DARSHAN_LIB=",
        run: compare::run,
    },
    Command {
        name: "symbols",
        says: "write docs/symbols.md: every I/O function of glibc, covered or why not",
        run: symbols::run,
    },
    Command { name: "tidy", says: "check the house rules", run: tidy::run },
    Command {
        name: "artifact",
        says: "build the preload library as shipped and check what it imports and exports",
        run: artifact::run,
    },
    Command {
        name: "bench",
        says: "measure, and keep the result in docs/measured",
        run: bench::run,
    },
    Command {
        name: "quote",
        says: "write what was measured into the documents that quote it",
        run: quote::run,
    },
    Command {
        name: "reference",
        says: "write the pages of docs/reference that follow from the code: rules and settings",
        run: reference::run,
    },
    Command {
        name: "install",
        says: "install what the tests need, and say what is missing",
        run: install::run,
    },
    Command { name: "wheel", says: "build the Python package", run: python::wheel },
    Command {
        name: "notebook",
        says: "execute the notebooks of docs/notebook anew (no name: all)",
        run: python::notebook,
    },
    Command { name: "web", says: "build the report page (needs Node.js)", run: web::run },
    Command {
        name: "gallery",
        says: "workloads before and after tuning as pages and pictures, into a folder",
        run: gallery::run,
    },
    Command {
        name: "workload",
        says: "run one of the papers' applications in small (no name: the list)",
        run: workload::run,
    },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    match dispatch(&name, &rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            let ended = error.downcast_ref::<workload::Ended>();
            ended.map_or(ExitCode::FAILURE, |ended| ExitCode::from(ended.0))
        }
    }
}

fn dispatch(name: &str, rest: &[String]) -> Result<()> {
    if matches!(name, "" | "help" | "-h" | "--help") {
        help();
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => bail!("there is no command `{name}`; `cargo xtask help` lists them"),
    }
}

fn help() {
    println!("usage: cargo xtask COMMAND\n");
    for command in COMMANDS {
        println!("  {:<10} {}", command.name, command.says);
    }
}
