//! Processor time of the whole node, and what the scheduler counts: `/proc/stat`.

use super::root::numbers;
use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Cpu;

/// The first columns of the line `cpu`; guests are contained in the first two.
const COLUMNS: [&str; 8] = [
    "cpu.user_ms",
    "cpu.nice_ms",
    "cpu.system_ms",
    "cpu.idle_ms",
    "cpu.wait_io_ms",
    "cpu.interrupt_ms",
    "cpu.soft_interrupt_ms",
    "cpu.stolen_ms",
];
/// The kernel shows processor time in hundredths of a second on every architecture.
const TICK_MS: u64 = 10;

impl Sampler for Cpu {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        let text = root.text("proc/stat").unwrap_or_default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let name = words.next().unwrap_or_default();
            let found = numbers(words);
            match (name, found.first()) {
                ("cpu", _) => {
                    for (column, ticks) in COLUMNS.into_iter().zip(found) {
                        into.count("", column, ticks.saturating_mul(TICK_MS));
                    }
                }
                ("ctxt", Some(&count)) => into.count("", "cpu.context_switches", count),
                ("processes", Some(&count)) => into.count("", "cpu.forks", count),
                ("procs_running", Some(&now)) => into.gauge("", "cpu.running", now as f64),
                ("procs_blocked", Some(&now)) => into.gauge("", "cpu.blocked_on_io", now as f64),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    const STAT: &str = "cpu  1003 20 500 90000 77 1 2 3 0 0\ncpu0 500 10 250 45000 40 0 1 1 0 0\n\
        intr 100 2 3\nctxt 123456\nbtime 1700000000\nprocesses 4711\nprocs_running 3\nprocs_blocked 1\n";

    #[test]
    fn time_is_in_milliseconds_and_single_processors_are_left_out() {
        assert_eq!(
            lines(&mut Cpu, &[("proc/stat", STAT)]),
            [
                " cpu.user_ms 10030",
                " cpu.nice_ms 200",
                " cpu.system_ms 5000",
                " cpu.idle_ms 900000",
                " cpu.wait_io_ms 770",
                " cpu.interrupt_ms 10",
                " cpu.soft_interrupt_ms 20",
                " cpu.stolen_ms 30",
                " cpu.context_switches 123456",
                " cpu.forks 4711",
                " cpu.running 3",
                " cpu.blocked_on_io 1",
            ]
        );
        survives(&mut Cpu, &[("proc/stat", STAT)]);
    }
}
