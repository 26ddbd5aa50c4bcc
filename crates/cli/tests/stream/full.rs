//! A node whose disk is full, to the last byte: the application goes on, and what the node has taken arrives;
//! the rest follows, into the room that this leaves, or that somebody else makes.

use netra_e2e::SmallDisk;

use crate::fault::{SMALL, end};
use crate::site::{Site, poll};

const SIZE: u64 = 4 << 20;
/// What is left of it for a node.
const FREE: u64 = 768 << 10;

/// A node without its hub, on a disk that its spool has filled.
fn filled(site: &Site, disk: &SmallDisk, job: &str) -> Vec<crate::site::Running> {
    disk.fill(SIZE, FREE).expect("a ballast");
    let daemons = vec![site.start("far"), site.start("node")];
    end(SMALL.produce(site, job));
    poll("the disk is full", || site.has_said("node", "the spool is full"));
    daemons
}

#[test]
fn a_disk_full_to_the_last_byte_drains_as_soon_as_the_hub_is_there() {
    let site = Site::new();
    let Some(disk) = SmallDisk::mount(&site.path("node"), SIZE) else {
        println!("skipped: no disk can be mounted here (root)");
        return;
    };
    let mut daemons = filled(&site, &disk, "full");
    // Somebody else takes what is left, and the node is killed on top of it.
    let taken = disk.fill_up().expect("a second ballast");
    drop(daemons.pop());
    daemons.push(site.start("node"));
    daemons.push(site.start("near"));
    let checked = SMALL.is_exact(&site, "full");
    poll("segments are removed", || site.segments().is_empty());
    drop(daemons);
    println!("disk full: 1 time, {taken} bytes taken by others, {checked} events checked");
}

#[test]
fn a_full_disk_that_gets_room_takes_the_rest() {
    let site = Site::new();
    let Some(disk) = SmallDisk::mount(&site.path("node"), SIZE) else {
        println!("skipped: no disk can be mounted here (root)");
        return;
    };
    let mut daemons = filled(&site, &disk, "room");
    assert!(!SMALL.is_held_back(&site, "room"), "the disk was too large for this test");
    disk.empty().expect("the ballast is removed");
    poll("the node has everything", || SMALL.is_held_back(&site, "room"));
    daemons.push(site.start("near"));
    let checked = SMALL.is_exact(&site, "room");
    drop(daemons);
    println!("disk full, then room: 1 time, {checked} events checked");
}
