//! The conflicts of the NWChem-like database: their number is on its page, and counted here from the
//! calls in the order of time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netra_workloads::{Launch, Mpi, catalogue};

use crate::cell::place;

/// One access to the database.
struct Access {
    /// Seconds, as `strace -ttt` writes them: of equal length, so that text sorts as time.
    time: String,
    rank: usize,
    write: bool,
    /// Accesses either have the same offset or do not overlap.
    offset: u64,
}

/// `1700000000.123456 pread64(3</run/h2o_scf.db>, ""..., 512, 0) = 512`
fn access(line: &str, rank: usize) -> Option<Access> {
    let (time, call) = line.split_once(' ')?;
    let (arguments, _) = call.split_once(") = ")?;
    let offset = arguments.rsplit(", ").next()?.parse().ok()?;
    arguments.contains("/h2o_scf.db>").then_some(Access {
        time: time.to_owned(),
        rank,
        write: call.starts_with("pwrite64"),
        offset,
    })
}

/// Runs the workload and returns the accesses to its database, in order of time.
fn accesses(folder: &Path, ranks: u32, steps: u64) -> Vec<Access> {
    let traces = folder.join("watch");
    let with = "strace -ff --seccomp-bpf -q -ttt -y -s 0 -e trace=pread64,pwrite64 -o";
    let mut with_rank: Vec<String> = with.split(' ').map(str::to_owned).collect();
    with_rank.extend([format!("{}/trace.{{rank}}", traces.display()), "--".to_owned()]);
    let knobs = format!("--steps {steps} --record 1000 --scratch 0");
    let launch = Launch {
        workload: catalogue::find("nwchem").unwrap(),
        mpi: Mpi::Mpich,
        ranks,
        with: Vec::new(),
        with_rank,
        knobs: knobs.split(' ').map(str::to_owned).collect(),
    };
    assert!(launch.command(&folder.join("run")).unwrap().status().unwrap().success());
    let mut all = Vec::new();
    for entry in fs::read_dir(traces).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let rank = name.split('.').nth(1).unwrap().parse().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        all.extend(text.lines().filter_map(|line| access(line, rank)));
    }
    all.sort_by(|one, other| one.time.cmp(&other.time));
    all
}

/// Kind of conflict, within one rank or between two → how many. A read conflicts with the last
/// write of the same place, a write with the last write and the last read.
fn conflicts(accesses: &[Access]) -> BTreeMap<(&'static str, bool), u64> {
    let (mut writers, mut readers) = (BTreeMap::new(), BTreeMap::new());
    let mut found = BTreeMap::new();
    for access in accesses {
        let mut count = |kind, last: Option<&usize>| {
            if let Some(last) = last {
                *found.entry((kind, *last == access.rank)).or_default() += 1;
            }
        };
        let place = access.offset;
        if access.write {
            count("WAW", writers.get(&place));
            count("WAR", readers.get(&place));
            writers.insert(place, access.rank);
        } else {
            count("RAW", writers.get(&place));
            readers.insert(place, access.rank);
        }
    }
    found
}

#[test]
fn nwchem_has_every_kind_of_conflict_as_often_as_its_page_says() {
    for (ranks, steps) in [(2, 4), (3, 3)] {
        let found = conflicts(&accesses(&place(&format!("conflicts {ranks}")), ranks, steps));
        let (n, s) = (u64::from(ranks), steps);
        let expected = BTreeMap::from([
            (("RAW", true), n * s + 1),
            (("RAW", false), 2 * n * s - 2),
            (("WAR", true), n * s),
            (("WAR", false), n * (s - 1)),
            (("WAW", true), n * (s - 1) + 1),
            (("WAW", false), n * s - 1),
        ]);
        assert_eq!(found, expected, "{ranks} ranks, {steps} steps");
    }
}
