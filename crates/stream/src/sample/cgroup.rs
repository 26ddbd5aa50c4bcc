//! The control groups of the jobs on this node: what all their processes use together, whether netra
//! records them or not. Version 2, and memory and processor time of version 1.

use std::collections::BTreeSet;

use super::pressure::stalls;
use super::{Root, Sample, Sampler};

/// Groups that are sampled at most; a node runs fewer jobs.
const MOST: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Cgroup {
    unified: BTreeSet<String>,
    memory: BTreeSet<String>,
    processor: BTreeSet<String>,
}

impl Cgroup {
    /// Looks up in which groups these processes are. The node's own group, `/`, says nothing new.
    pub(super) fn follow(&mut self, root: &Root, pids: impl IntoIterator<Item = u32>) {
        *self = Cgroup::default();
        for pid in pids {
            for line in root.text(&format!("proc/{pid}/cgroup")).unwrap_or_default().lines() {
                let mut parts = line.splitn(3, ':').skip(1);
                let (Some(which), Some(path)) = (parts.next(), parts.next()) else { continue };
                let path = path.trim_matches('/');
                // A path with .. leads out of the reader's own name space.
                if path.is_empty() || path.split('/').any(|part| part == "..") {
                    continue;
                }
                let groups = match which {
                    "" => &mut self.unified,
                    which if which.split(',').any(|part| part == "memory") => &mut self.memory,
                    which if which.split(',').any(|part| part == "cpuacct") => &mut self.processor,
                    _ => continue,
                };
                if groups.len() < MOST {
                    groups.insert(path.to_owned());
                }
            }
        }
    }
}

impl Sampler for Cgroup {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for group in &self.unified {
            unified(root, group, into);
        }
        for group in &self.memory {
            let folder = format!("sys/fs/cgroup/memory/{group}");
            let now = root.number(&format!("{folder}/memory.usage_in_bytes"));
            gauge(group, "cgroup.memory_bytes", now, into);
            let peak = root.number(&format!("{folder}/memory.max_usage_in_bytes"));
            gauge(group, "cgroup.memory_peak_bytes", peak, into);
        }
        for group in &self.processor {
            let used = root.number(&format!("sys/fs/cgroup/cpuacct/{group}/cpuacct.usage"));
            if let Some(nanos) = used {
                into.count(group, "cgroup.cpu_us", nanos / 1000);
            }
        }
    }
}

fn unified(root: &Root, group: &str, into: &mut Sample) {
    let folder = format!("sys/fs/cgroup/{group}");
    let text = |file: &str| root.text(&format!("{folder}/{file}")).unwrap_or_default();
    gauge(group, "cgroup.memory_bytes", root.number(&format!("{folder}/memory.current")), into);
    gauge(group, "cgroup.memory_peak_bytes", root.number(&format!("{folder}/memory.peak")), into);
    for line in text("memory.stat").lines() {
        let name = match line.split_once(' ') {
            Some(("anon", _)) => "cgroup.memory_anonymous_bytes",
            Some(("file", _)) => "cgroup.memory_cached_bytes",
            Some(("file_dirty", _)) => "cgroup.memory_dirty_bytes",
            Some(("file_writeback", _)) => "cgroup.memory_writeback_bytes",
            _ => continue,
        };
        gauge(group, name, word(line), into);
    }
    for line in text("cpu.stat").lines() {
        let name = match line.split_once(' ') {
            Some(("usage_usec", _)) => "cgroup.cpu_us",
            Some(("user_usec", _)) => "cgroup.cpu_user_us",
            Some(("system_usec", _)) => "cgroup.cpu_system_us",
            Some(("throttled_usec", _)) => "cgroup.cpu_throttled_us",
            _ => continue,
        };
        if let Some(value) = word(line) {
            into.count(group, name, value);
        }
    }
    io(group, &text("io.stat"), into);
    stalls(&text("io.pressure"), group, "cgroup.pressure_io", into);
    stalls(&text("memory.pressure"), group, "cgroup.pressure_memory", into);
}

/// Sums over devices of lines such as `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`.
fn io(group: &str, text: &str, into: &mut Sample) {
    for (key, name) in [
        ("rbytes=", "cgroup.read_bytes"),
        ("wbytes=", "cgroup.written_bytes"),
        ("rios=", "cgroup.reads"),
        ("wios=", "cgroup.writes"),
    ] {
        let words = text.split_ascii_whitespace().filter_map(|word| word.strip_prefix(key));
        let values = words.filter_map(|word| word.parse::<u64>().ok());
        if let Some(sum) = values.reduce(u64::saturating_add) {
            into.count(group, name, sum);
        }
    }
}

fn word(line: &str) -> Option<u64> {
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn gauge(group: &str, name: &str, value: Option<u64>, into: &mut Sample) {
    if let Some(value) = value {
        into.gauge(group, name, value as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Set;
    use super::*;
    use std::fs;

    /// The lines of the groups of processes 7 and 8.
    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut set = Set::new(Root::new(folder.path()));
        set.follow([7, 8]);
        let sample = set.sample();
        let all = sample.metrics().iter();
        all.map(|one| format!("{} {} {}", one.target, one.name, one.value.number())).collect()
    }

    #[test]
    fn the_group_of_a_job_is_found_by_its_processes() {
        let found = lines(&[
            ("proc/7/cgroup", "0::/slice/job_1\n"),
            ("proc/8/cgroup", "0::/slice/job_1\n"),
            ("sys/fs/cgroup/slice/job_1/memory.current", "4096\n"),
            ("sys/fs/cgroup/slice/job_1/memory.stat", "anon 10\nfile 20\nfile_dirty 3\nslab 1\n"),
            ("sys/fs/cgroup/slice/job_1/cpu.stat", "usage_usec 9\nuser_usec 5\nnr_periods 0\n"),
            ("sys/fs/cgroup/slice/job_1/io.stat", "8:0 rbytes=1 wbytes=2\n8:16 rbytes=10 wios=4\n"),
            ("sys/fs/cgroup/slice/job_1/io.pressure", "full avg10=0.00 avg60=0 avg300=0 total=7\n"),
        ]);
        assert_eq!(
            found,
            [
                "slice/job_1 cgroup.memory_bytes 4096",
                "slice/job_1 cgroup.memory_anonymous_bytes 10",
                "slice/job_1 cgroup.memory_cached_bytes 20",
                "slice/job_1 cgroup.memory_dirty_bytes 3",
                "slice/job_1 cgroup.cpu_us 9",
                "slice/job_1 cgroup.cpu_user_us 5",
                "slice/job_1 cgroup.read_bytes 11",
                "slice/job_1 cgroup.written_bytes 2",
                "slice/job_1 cgroup.writes 4",
                "slice/job_1 cgroup.pressure_io_full_percent_10s 0",
                "slice/job_1 cgroup.pressure_io_full_us 7",
            ]
        );
    }

    #[test]
    fn version_1_gives_memory_and_processor_time() {
        let found = lines(&[
            ("proc/7/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n1:pids:/job\n0::/\n"),
            ("proc/8/cgroup", "4:memory:/../../other\nnonsense\n"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "123\n"),
            ("sys/fs/cgroup/cpuacct/job/cpuacct.usage", "5000\n"),
        ]);
        assert_eq!(found, ["job cgroup.memory_bytes 123", "job cgroup.cpu_us 5"]);
    }
}
