//! Programs of the world that shut themselves or others into sandboxes: they work as without netra.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use netra_e2e::{Case, Program, Tool};

/// A browser on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Whether a program is installed; says so if it is not.
#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn is_there(case: &str, programs: &[&str]) -> bool {
    let folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    let found = |name: &&str| folders.iter().any(|folder| Path::new(folder).join(name).exists());
    let missing: Vec<&&str> = programs.iter().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        println!("{case:24} skipped: {missing:?} is not installed");
    }
    missing.is_empty()
}

#[track_caller]
fn check(script: &str) {
    let case = Case::of(Program::script("bash", script)).without_evidence().patience(PATIENCE);
    case.check(&Tool::netra().expect("the library")).expect("it runs").assert();
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout == b"0\n"
}

/// sshd separates rights only where it has them.
#[test]
fn sshd() {
    if !is_root() {
        println!(
            "sshd                     skipped: only root can be logged in by a daemon of its own"
        );
        return;
    }
    if is_there("sshd", &["sshd", "ssh", "ssh-keygen"]) {
        check("sshd.sh");
    }
}

#[test]
fn chromium() {
    if !is_there("chromium", &["chromium", "setpriv"]) {
        return;
    }
    let library = Tool::netra().expect("the library").library().to_owned();
    let mut look = Command::new("setpriv");
    look.args(["--reuid=65534", "--regid=65534", "--clear-groups", "test", "-r"]).arg(&library);
    if is_root() && !look.status().expect("setpriv runs").success() {
        println!(
            "chromium                 skipped: an ordinary user cannot read {}",
            library.display()
        );
        return;
    }
    check("chromium.sh");
}

/// The filters are written for one processor.
#[test]
fn bwrap() {
    if cfg!(target_arch = "x86_64") && is_there("bwrap", &["bwrap"]) {
        check("bwrap.sh");
    }
}
