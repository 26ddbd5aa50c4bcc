//! The tests of the tests: with a guest that misbehaves on purpose, the checks fail, and say why.
#![forbid(unsafe_code)]

use netra_e2e::transparent::{self, Way};
use netra_e2e::{Case, Program, Tool, Verdict};

/// What the checks say of a program under a bad guest.
fn under(guest: &str, program: &str) -> Verdict {
    let tool = Tool::other(Program::c(guest).library().expect("it compiles"));
    let program = Program::c(program).named(&format!("{program}_{guest}"));
    Case::of(program).without_evidence().check(&tool).expect("it runs")
}

#[track_caller]
#[expect(clippy::print_stdout, reason = "one line per program is what a test run shows")]
fn complains(verdict: &Verdict, about: &str) {
    assert!(
        verdict.differences.iter().any(|line| line.contains(about)),
        "expected a complaint about {about}: {:?}",
        verdict.differences
    );
    println!("{:24} noticed: {}", verdict.name, verdict.differences[0]);
}

#[test]
fn a_spoiled_errno_is_noticed() {
    complains(&under("wrong_errno", "errno"), "stdout is");
}

#[test]
fn changed_bytes_are_noticed() {
    complains(&under("wrong_bytes", "plain"), "plain.dat has other contents");
}

#[test]
fn a_word_in_the_streams_is_noticed() {
    complains(&under("wrong_output", "plain"), "stderr is \"hello from the guest");
}

#[test]
fn another_exit_code_is_noticed() {
    complains(&under("wrong_exit", "fork"), "ended with exit status: 1");
}

#[test]
fn a_descriptor_that_is_kept_is_noticed() {
    complains(&under("wrong_descriptor", "rlimit_nofile"), "stdout is");
}

#[test]
fn a_missing_log_is_noticed() {
    let tool = Tool::other(Program::c("pass_through").library().unwrap());
    let program = Program::c("plain").named("plain_no_log");
    complains(&Case::of(program).check(&tool).unwrap(), "left no log");
}

#[test]
fn a_call_too_many_is_noticed() {
    let extra = Program::c("extra_write").library().unwrap();
    let tool = Tool::netra().unwrap().behind(extra);
    let program = Program::c("plain").named("plain_extra_write");
    let verdict = Case::of(program).check(&tool).unwrap();
    complains(&verdict, "plain.dat: POSIX_WRITES is 40, the program did 20");
}

#[test]
fn the_tripwire_fires() {
    let tripwire = Program::beside("tripwire/tripwire.c").library().unwrap();
    // The tripwire knows netra by the name of its file.
    let guest = Program::c("wrong_malloc").named("netra_preload_wrong").library().unwrap();
    let tool = Tool::other(guest).before(tripwire);
    let program = Program::c("plain").named("plain_wrong_malloc");
    let verdict = Case::of(program).without_evidence().check(&tool).unwrap();
    complains(&verdict, "tripwire: netra reached malloc itself");
}

/// The harness notices the same guests by itself, without a word of what a program does; and nothing about
/// a library that does nothing.
#[test]
fn bad_guests_are_noticed_by_whoever_only_looks() {
    let guest = |name: &str| transparent::all().find(|guest| guest.name == name).expect("a row");
    let seen = |library: &str, name: &str| {
        let tool = Tool::other(Program::c(library).library().expect("it compiles"));
        let report = transparent::check(guest(name), &[Way::Other(tool)], 1).expect("it runs");
        report.differences
    };
    for (library, name, about) in [
        ("wrong_errno", "errno", "other: stdout: "),
        ("wrong_bytes", "plain", "other: file plain.dat: "),
        ("wrong_output", "plain", "other: stderr: "),
        ("wrong_exit", "fork", "other: ending: "),
        ("wrong_descriptor", "plain", "other: descriptors 0 at its end: "),
    ] {
        let found = seen(library, name);
        assert!(found.iter().any(|line| line.starts_with(about)), "{library}: {found:?}");
    }
}
