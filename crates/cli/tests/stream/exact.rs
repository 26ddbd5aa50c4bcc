//! Without faults: everything arrives, exactly once, also of processes older than the daemon.

use crate::site::{Running, Site, adds_up, events, is_long, poll};

#[test]
fn events_of_many_processes_cross_two_hubs_exactly_once() {
    let (producers, calls) = if is_long() { (8, 500_000) } else { (4, 10_000) };
    let site = Site::new();
    let _daemons = site.start_all();
    let mut all: Vec<Running> =
        (0..producers).map(|number| site.produce("exact", number, calls)).collect();
    for producer in &mut all {
        assert!(producer.0.wait().expect("it ends").success());
    }
    let found = site.settle("exact", producers as usize);
    adds_up(&found, &site);
    assert_eq!(found["complete"], true, "{found:#}");
    assert_eq!(found["sums"]["delivered"], producers * events(calls));
    let calls_of = |name: &str| {
        let lines = found["functions"].as_array().expect("functions");
        let line = lines.iter().find(|line| line["name"] == name).expect("called");
        (line["calls"].as_u64(), line["delivered"].as_u64())
    };
    let writes = Some(producers * 2 * calls);
    assert_eq!(calls_of("pwrite"), (writes, writes));
    assert_eq!(calls_of("open"), (Some(producers), Some(producers)));
    poll("segments are removed", || site.segments().is_empty());
    println!("{} events of {producers} processes checked", producers * events(calls));
}

#[test]
fn segments_older_than_the_daemon_are_found() {
    let site = Site::new();
    let mut producer = site.produce("older", 0, 1000);
    assert!(producer.0.wait().expect("it ends").success());
    let _daemons = site.start_all();
    let found = site.settle("older", 1);
    assert_eq!(
        (found["complete"].as_bool(), found["sums"]["delivered"].as_u64()),
        (Some(true), Some(events(1000)))
    );
}
