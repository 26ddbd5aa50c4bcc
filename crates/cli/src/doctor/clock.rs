//! The clock that calls are timed with, and the system it belongs to.

use std::fs;

use super::{Finding, good, note};

pub(super) fn examine() -> Vec<Finding> {
    let about = rustix::system::uname();
    let system = format!(
        "{} {} on {}",
        about.sysname().to_string_lossy(),
        about.release().to_string_lossy(),
        about.machine().to_string_lossy()
    );
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    vec![good(system), counter(&cpus)]
}

/// Whether the processor's counter runs at one speed and never stops.
fn counter(cpuinfo: &str) -> Finding {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    if cfg!(target_arch = "x86_64") && !(has("constant_tsc") && has("nonstop_tsc")) {
        return note(
            "the processor's counter is not steady (constant_tsc, nonstop_tsc): the system's clock \
             is asked instead, which costs some 20 ns a call",
        );
    }
    good("the processor's counter is steady: calls are timed with it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn both_flags_are_needed() {
        let level = |flags: &str| counter(&format!("model\t: x\nflags\t\t: {flags}\n")).level;
        assert_eq!(level("fpu constant_tsc nonstop_tsc"), Level::Good);
        assert_eq!(level("fpu constant_tsc"), Level::Note);
        assert_eq!(level("fpu nonstop_tsc_x constant_tsc"), Level::Note);
    }
}
