//! The platform module: what node this process runs on and what the job was given, recorded once when the
//! process is set up. It asks only what the kernel answers at once; what a site alone knows (I/O nodes, the
//! topology of its network) it takes from the scheduler's variables and from a file of the site's, `NETRA_PLATFORM`.
//! The node's devices and mounts are asked for at once in a job; elsewhere in a process that lives for a while,
//! which spares a small program a fifth of what netra costs it.
//!
//! A fact is a line `key=value` in the segment. Which rank runs where follows from rank and host of each
//! segment.

use core::sync::atomic::Ordering;

use netra_event::segment::Region;

use crate::arena::ARENA;
use crate::memory;
use crate::mount;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys;
use crate::text::{Text, trim};

/// Bytes of all facts.
type Facts = Text<4096>;

/// Devices that are listed by their names, and where the kernel lists them.
const DEVICES: [(&[u8], &core::ffi::CStr); 3] = [
    (b"network", c"/sys/class/net"),
    (b"infiniband", c"/sys/class/infiniband"),
    (b"slingshot", c"/sys/class/cxi"),
];

/// Records the facts.
pub fn set_up() {
    let mut facts = Facts::new();
    node(&mut facts);
    for line in SETTINGS.allocation().split(|&byte| byte == b'\n') {
        if !line.is_empty() {
            facts.push(line).push(b"\n");
        }
    }
    site(&mut facts);
    record(&facts);
    let launch = SETTINGS.launch();
    if launch.rank.is_some() || launch.job_id.is_some() {
        complete();
    }
}

/// Records the node's devices and mounts, once.
pub fn complete() {
    let Some(private) = memory::private() else { return };
    if private.devices.swap(1, Ordering::Relaxed) == 0 {
        mount::list();
        let mut facts = Facts::new();
        devices(&mut facts);
        record(&facts);
    }
}

fn record(facts: &Facts) {
    // Without room for it there is room for nothing.
    let _at = ARENA.append(Region::Platform, facts.bytes());
}

fn node(facts: &mut Facts) {
    facts.push(b"cores=").number(sys::processors()).push(b"\n");
    facts.push(b"memory=").number(sys::memory_bytes()).push(b"\n");
    let mut release = [0; 65];
    facts.push(b"kernel=").push(sys::kernel_release(&mut release)).push(b"\n");
}

fn devices(facts: &mut Facts) {
    for (kind, folder) in DEVICES {
        let mut names = Text::<512>::new();
        sys::each_entry(folder, |name| {
            if name != b"lo" {
                names.push(if names.bytes().is_empty() { b"" } else { b"," }).push(name);
            }
        });
        if !names.bytes().is_empty() {
            facts.push(kind).push(b"=").push(names.bytes()).push(b"\n");
        }
    }
}

/// Lines `key = value` of the site's file.
fn site(facts: &mut Facts) {
    let mut path = Text::<LONGEST_PATH>::new();
    path.push(SETTINGS.platform());
    if path.bytes().is_empty() {
        return;
    }
    let Some(path) = path.path() else { return };
    sys::each_line(path, |line| take(line, facts));
}

fn take(line: &[u8], facts: &mut Facts) {
    let line = trim(line);
    let Some(at) = line.iter().position(|&byte| byte == b'=') else { return };
    let key = trim(line.get(..at).unwrap_or_default());
    let value = trim(line.get(at.wrapping_add(1)..).unwrap_or_default());
    if !matches!(key.first(), None | Some(b'#')) {
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        let value = value.strip_suffix(b"\"").unwrap_or(value);
        facts.push(key).push(b"=").push(value).push(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_is_known() {
        let mut facts = Facts::new();
        node(&mut facts);
        devices(&mut facts);
        let text = std::str::from_utf8(facts.bytes()).unwrap();
        let fact = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let cores = std::thread::available_parallelism().unwrap().get();
        assert!(fact("cores=").parse::<usize>().unwrap() >= cores);
        assert!(fact("memory=").parse::<u64>().unwrap() > 64 << 20);
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(fact("kernel="), release.trim());
        let devices = std::fs::read_dir("/sys/class/net").unwrap();
        let mut devices: Vec<String> = devices
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "lo")
            .collect();
        devices.sort();
        let listed = text.lines().find_map(|line| line.strip_prefix("network=")).unwrap_or("");
        let mut listed: Vec<&str> = listed.split(',').filter(|name| !name.is_empty()).collect();
        listed.sort_unstable();
        assert_eq!(listed, devices);
    }

    #[test]
    fn a_site_says_what_it_likes() {
        let mut facts = Facts::new();
        for line in
            ["# ours", "io_nodes = 4", "topology=\"dragonfly, 3 groups\"", "nonsense", " = x"]
        {
            take(line.as_bytes(), &mut facts);
        }
        assert_eq!(facts.bytes(), b"io_nodes=4\ntopology=dragonfly, 3 groups\n");
    }
}
