//! A test for each row of the list, without a function for each: what `cargo test` and nextest ask of a
//! test program.

use std::env;
use std::process::ExitCode;

use super::{Guest, Report, Way, all, check};

/// Runs what the command line asks for of the list and of some more, in some ways.
#[must_use]
pub fn main(ways: &[Way], more: &'static [Guest]) -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|own| own == word);
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    // `--format terse` has a value.
    let wanted: Vec<&String> = wanted.into_iter().filter(|word| *word != "terse").collect();
    let is_wanted = |guest: &&Guest| {
        let fits = |word: &&String| match has("--exact") {
            true => *word == guest.name,
            false => guest.name.contains(word.as_str()),
        };
        wanted.is_empty() || wanted.iter().any(fits)
    };
    // No test is ever ignored.
    let none = has("--ignored");
    let mine =
        all().chain(more).filter(|guest| !none && (is_long() || !guest.long)).filter(is_wanted);
    let mut failed = 0;
    for guest in mine {
        if has("--list") {
            say(&format!("{}: test", guest.name));
        } else if !run(guest, ways) {
            failed += 1;
        }
    }
    ExitCode::from(u8::from(failed > 0))
}

fn is_long() -> bool {
    env::var_os("NETRA_TEST_LONG").is_some()
}

/// Runs one; false if it failed.
fn run(guest: &Guest, ways: &[Way]) -> bool {
    if !guest.is_there() {
        // The test command has told us that it brought everything.
        let brought = env::var_os("NETRA_TEST_INSTALLED").is_some();
        let word = if brought { "FAILED" } else { "skipped" };
        say(&format!("{:24} {word}: {} is not installed", guest.name, guest.package));
        return !brought;
    }
    let rounds = if is_long() { 20 } else { 1 };
    match check(guest, ways, rounds) {
        Ok(report) => tell(guest, &report),
        Err(error) => {
            say(&format!("{:24} FAILED: {error:#}", guest.name));
            false
        }
    }
}

fn tell(guest: &Guest, report: &Report) -> bool {
    let good = report.differences.is_empty();
    let word = if good { "same" } else { "FAILED" };
    say(&format!("{:24} {word} in {} topics", guest.name, report.compared));
    for line in &report.differences {
        say(&format!("  otherwise  {line}"));
    }
    for line in &report.left_out {
        say(&format!("  left out   {line}"));
    }
    good
}

#[expect(clippy::print_stdout, reason = "a test program tells its runner by standard output")]
fn say(line: &str) {
    println!("{line}");
}
