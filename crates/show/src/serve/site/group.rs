//! Runs that belong together: sums, and how much their rates differ, reads and writes apart.

use std::collections::BTreeMap;

use netra_analyse::history::Spread;
use serde_json::{Value, json};

use super::spread;
use crate::live::Cell;
use crate::serve::job::seconds;
use crate::serve::run::Run;

/// Groups of each kind that are told, those that moved most.
const MOST: usize = 200;

/// What belongs together.
#[derive(Debug, Default)]
struct Group {
    jobs: u64,
    running: u64,
    incomplete: u64,
    moved: [Cell; 2],
    /// Bytes a second of time in calls, of each run that has ended: reads, writes.
    rates: [Vec<f64>; 2],
}

/// Groups by name.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: BTreeMap<String, Group>,
}

impl Groups {
    /// A run belongs to this group with what it moved there.
    pub(super) fn add(&mut self, name: String, run: &Run, moved: [Cell; 2]) {
        let group = self.all.entry(name).or_default();
        group.jobs += 1;
        group.running += u64::from(run.end.is_none());
        group.incomplete += u64::from(run.missing.is_some());
        for (way, cell) in moved.iter().enumerate() {
            group.moved[way].fold(cell);
            if run.end.is_some() && cell.bytes > 0 && cell.nanos > 0 {
                group.rates[way].push(cell.bytes as f64 / seconds(cell.nanos));
            }
        }
    }

    /// All of them, those that moved most first.
    pub(super) fn told(&self) -> Value {
        let mut all: Vec<(&String, &Group)> = self.all.iter().collect();
        let moved = |group: &Group| group.moved[0].bytes.saturating_add(group.moved[1].bytes);
        all.sort_by(|a, b| moved(b.1).cmp(&moved(a.1)).then_with(|| a.0.cmp(b.0)));
        all.iter().take(MOST).map(|(name, group)| one(name, group)).collect()
    }

    /// How much groups differ from each other: the spread of their middles, reads and writes, and of how many.
    pub(super) fn across(&self) -> Value {
        let middles = |way: usize| -> Vec<f64> {
            let used = self.all.values().filter(|group| !group.rates[way].is_empty());
            used.map(|group| Spread::of(&group.rates[way]).median).collect()
        };
        let (read, write) = (middles(0), middles(1));
        json!({
            "read_rate": spread(&Spread::of(&read)), "readers": read.len(),
            "write_rate": spread(&Spread::of(&write)), "writers": write.len(),
        })
    }
}

fn one(name: &str, group: &Group) -> Value {
    let [read, write] = &group.moved;
    json!({
        "name": name, "jobs": group.jobs, "running": group.running, "incomplete": group.incomplete,
        "bytes_read": read.bytes, "bytes_written": write.bytes,
        "reads": read.calls, "writes": write.calls,
        "read_seconds": seconds(read.nanos), "write_seconds": seconds(write.nanos),
        "read_rate": spread(&Spread::of(&group.rates[0])),
        "write_rate": spread(&Spread::of(&group.rates[1])),
    })
}

#[cfg(test)]
mod tests {
    use super::Groups;
    use crate::live::Cell;
    use crate::serve::run::Run;

    fn run(program: &str, megabytes: u64) -> Run {
        let cell = Cell { calls: 1, bytes: megabytes << 20, nanos: 1_000_000_000 };
        let moved = [Cell::default(), cell];
        Run { program: program.to_owned(), end: Some(1.0), moved, ..Run::default() }
    }

    #[test]
    fn rates_vary_within_and_across() {
        let mut groups = Groups::default();
        for (program, megabytes) in [("a", 10), ("a", 20), ("a", 30), ("b", 100)] {
            let run = run(program, megabytes);
            groups.add(run.program.clone(), &run, run.moved);
        }
        let told = groups.told();
        let rate = |mebibytes: u64| (mebibytes << 20) as f64;
        assert_eq!(told[0]["name"], "b", "most first");
        assert_eq!(told[1]["write_rate"][1], rate(20));
        assert_eq!(
            (&told[1]["write_rate"][0], &told[1]["write_rate"][2]),
            (&rate(10).into(), &rate(30).into())
        );
        assert_eq!(
            told[1]["write_rate"][3], 0.5,
            "the middle run is half of itself away from the others"
        );
        assert_eq!(told[1]["read_rate"][1], 0.0);
        let across = groups.across();
        assert_eq!((&across["writers"], &across["readers"]), (&2.into(), &0.into()));
        assert_eq!(across["write_rate"][1], rate(60), "between the two middles");
    }
}
