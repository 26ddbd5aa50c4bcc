//! Faults around the daemons: a cable pulled out, a hub away, a clock set. Whatever happens, the application
//! goes on, and afterwards everything is there once.

use std::sync::Arc;
use std::time::Duration;

use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Settings};
use netra_stream::ledger::Certificate;
use netra_stream::told::Told;

use crate::network::{HUB, Network};
use crate::site::{NODE, Running, Site, adds_up, events, is_long, poll};

/// Producers, and calls of each of their two threads.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    producers: u64,
    calls: u64,
}

/// What also a small disk has room for.
pub(crate) const SMALL: Load = Load { producers: 3, calls: 20_000 };

pub(crate) fn load() -> Load {
    if is_long() { Load { producers: 8, calls: 500_000 } } else { SMALL }
}

/// The application ends by itself while the fault lasts: it never waits for anybody.
pub(crate) fn end(producers: Vec<Running>) {
    for mut producer in producers {
        assert!(producer.0.wait().expect("it ends").success(), "the application never notices");
    }
}

impl Load {
    pub(crate) fn produce(self, site: &Site, job: &str) -> Vec<Running> {
        (0..self.producers).map(|number| site.produce(job, number, self.calls)).collect()
    }

    fn events(self) -> u64 {
        self.producers * events(self.calls)
    }

    /// Everything of all producers is there, once.
    pub(crate) fn is_exact(self, site: &Site, job: &str) -> u64 {
        let found = site.settle(job, self.producers as usize);
        adds_up(&found, site);
        assert_eq!(found["complete"], true, "{found:#}\n{}", site.said());
        assert_eq!(found["sums"]["delivered"], self.events(), "{found:#}");
        self.events()
    }

    /// The node has everything, and its hub has not.
    pub(crate) fn is_held_back(self, site: &Site, job: &str) -> bool {
        site.certificate("node", job).is_some_and(|found| {
            found["sums"]["received"] == self.events()
                && found["sums"]["in_flight"].as_u64().is_some_and(|left| left > 0)
        })
    }
}

fn duration() -> Duration {
    if is_long() { Duration::from_secs(60) } else { Duration::from_millis(1500) }
}

#[test]
fn a_cable_that_is_pulled_out_costs_time_and_nothing_else() {
    let Some(network) = Network::new() else {
        println!("skipped: name spaces of the network may not be made here (root, iproute2)");
        return;
    };
    let site = Site::new();
    site.write(
        "near",
        &format!("[[listen]]\naddress = \"tcp:{HUB}:4040\"\ninsecure = true\n"),
        "far",
    );
    let up = format!("[[upstream]]\nname = \"up\"\naddress = \"tcp:{HUB}:4040\"\n");
    site.write("node", &format!("{NODE}{up}"), "");
    let daemon = |name: &str| site.netra(&["daemon", &format!("{name}.toml")]);
    let _far = site.start("far");
    let _near = site.start_by("near", network.on_hub(&daemon("near")));
    let _node = site.start_by("node", network.on_node(&daemon("node")));
    let mut cuts = 0;
    end(load().produce(&site, "before"));
    load().is_exact(&site, "before");
    assert!(network.cut(), "the cable can be pulled out");
    end(load().produce(&site, "cut"));
    poll("the node holds what the hub can not get", || load().is_held_back(&site, "cut"));
    cuts += 1;
    std::thread::sleep(duration());
    assert!(network.mend(), "the cable can be put in");
    let checked = load().is_exact(&site, "cut");
    println!("network cut: {cuts} cut of {:?} and more, {checked} events checked", duration());
}

#[test]
fn a_hub_that_is_away_gets_everything_when_it_is_back() {
    let site = Site::new();
    let _far = site.start("far");
    let near = site.start("near");
    let _node = site.start("node");
    end(load().produce(&site, "before"));
    load().is_exact(&site, "before");
    drop(near);
    end(load().produce(&site, "away"));
    poll("the node holds what the hub can not get", || load().is_held_back(&site, "away"));
    std::thread::sleep(duration());
    let _near = site.start("near");
    let checked = load().is_exact(&site, "away");
    println!("hub away: 1 time for {:?} and more, {checked} events checked", duration());
}

#[test]
fn clocks_that_are_set_change_no_count() {
    let site = Site::new();
    let start = |name: &str, clock: &Arc<Clock>| {
        let settings = Settings::read(&site.path(&format!("{name}.toml"))).expect("settings");
        Daemon::start(settings, Arc::new(Told::quiet()), Arc::clone(clock)).expect("a daemon")
    };
    let clocks: [Arc<Clock>; 3] = Default::default();
    let [node_clock, near_clock, far_clock] = &clocks;
    let far = start("far", far_clock);
    let near = start("near", near_clock);
    let node = start("node", node_clock);
    let hour = 3_600_000_000_000;
    let all = load().produce(&site, "clock");
    let mut steps = 0;
    for step in [hour, -5 * hour, 24 * hour] {
        for clock in &clocks {
            std::thread::sleep(Duration::from_millis(30));
            clock.step(step / (1 + i64::from(steps % 3)));
            steps += 1;
        }
    }
    end(all);
    let load = load();
    let mut last = None;
    poll("everything has arrived", || {
        last = Certificate::of(&far.intake.state(), "clock").into_iter().next();
        last.as_ref().is_some_and(|found| {
            found.processes.len() as u64 == load.producers
                && found.is_final()
                && found.sums.in_flight == 0
        })
    });
    let found = last.expect("it was there");
    assert!(found.is_complete(), "{found:?}");
    assert_eq!(found.sums.delivered, load.events());
    assert!(node.finish() && near.finish() && far.finish(), "nothing is left");
    println!("clocks: {steps} steps, {} events checked", found.sums.delivered);
}
