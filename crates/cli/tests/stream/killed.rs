//! `kill -9` of node, hubs and application at random moments.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::site::{DAEMONS, Random, Running, Site, adds_up, is_long, poll};

#[test]
fn whoever_is_killed_nothing_is_lost_or_counted_twice() {
    let seed = std::env::var("NETRA_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let mut random = Random(seed);
    let (rounds, calls) = if is_long() { (40, 400_000) } else { (6, 60_000) };
    let site = Site::new();
    let mut running: Vec<Option<Running>> = vec![None, None, None];
    for place in (0..DAEMONS.len()).rev() {
        running[place] = Some(site.start(DAEMONS[place]));
    }
    let mut producers: Vec<Running> = Vec::new();
    let (mut killed, mut kills, mut started) = (Vec::new(), [0_u32; 4], 0);
    // An application that had just ended by itself was not killed: then there are more rounds.
    for round in 0..10 * rounds {
        if round >= rounds && !killed.is_empty() {
            break;
        }
        while producers.len() < 3 {
            producers.push(site.produce("killed", started, calls));
            started += 1;
        }
        std::thread::sleep(Duration::from_millis(20 + random.below(200)));
        // Every phase is hit: the first rounds go through all of them.
        let phase = match round {
            0..4 => round as usize,
            _ if round >= rounds => 3,
            _ => random.below(4) as usize,
        };
        match running.get_mut(phase) {
            Some(place) => {
                // Dropped, it is killed without a word, and collected.
                drop(place.take());
                std::thread::sleep(Duration::from_millis(random.below(200)));
                *place = Some(site.start(DAEMONS[phase]));
                kills[phase] += 1;
            }
            None => {
                let mut victim = producers.swap_remove(random.below(3) as usize);
                victim.0.kill().expect("it can be killed");
                let end = victim.0.wait().expect("it ends");
                if end.signal().is_some() {
                    killed.push(end);
                    kills[phase] += 1;
                }
            }
        }
        producers.retain_mut(|producer| producer.0.try_wait().is_ok_and(|end| end.is_none()));
    }
    for producer in &mut producers {
        assert!(producer.0.wait().expect("it ends").success(), "the application never notices");
    }
    let found = site.settle("killed", started as usize);
    adds_up(&found, &site);
    let dropped = found["sums"]["dropped"].as_object().expect("reasons");
    let lost = |reason: &String| reason != "excluded" && reason != "killed";
    assert!(!dropped.keys().any(lost), "seed {seed}: {found:#}\n{}", site.said());
    // Whoever was killed has a log all the same, and its segment is gone.
    poll("segments are removed", || site.segments().is_empty());
    let (made, own) = (logs(&site.path("recovered")), logs(&site.path("logs")));
    assert!(made.len() + own.len() >= started as usize, "seed {seed}: {made:?}\n{}", site.said());
    assert!(!made.is_empty() && made.len() <= killed.len(), "seed {seed}: {made:?}");
    // One that was killed at its very beginning has written nothing yet.
    let has_writes = |log: &PathBuf| {
        let shown = site.netra(&["parse", &log.display().to_string()]).output();
        String::from_utf8_lossy(&shown.expect("netra starts").stdout).contains("\tPOSIX_WRITES\t")
    };
    assert!(made.iter().any(has_writes), "seed {seed}: {made:?}");
    assert!(kills.iter().all(|&kills| kills > 0), "a phase was never hit: {kills:?}");
    println!(
        "killed: seed {seed}: kills of node {}, near hub {}, far hub {}, application {}; {} events of {started} processes checked",
        kills[0], kills[1], kills[2], kills[3], found["sums"]["delivered"]
    );
}

/// Every file below a folder.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(logs(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}
