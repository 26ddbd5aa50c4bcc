//! Where a job ran, as the netra section of its log tells it: the nodes with their ranks, cores, memory and
//! network devices, what the scheduler and the site said of the allocation, and the Lustre file systems.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Result, Write};

use netra_darshan::read::Log;
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_event::Bytes;
use netra_event::segment::View;

use crate::Json;
use crate::plain::{plain, shortened};

/// Nodes in the list for people.
const TOP: usize = 8;
/// Facts that have a column of their own.
const COLUMNS: [&str; 3] = ["cores", "memory", "network"];

/// A node.
#[derive(Debug, Default)]
struct Node {
    processes: u64,
    ranks: BTreeSet<u32>,
    facts: BTreeMap<String, String>,
}

/// What is known of the platform; nothing for a log that netra did not make.
#[derive(Debug, Default)]
pub(crate) struct Platform {
    nodes: BTreeMap<String, Node>,
    /// Mount point of a Lustre file system, its storage targets and its metadata targets.
    lustre: BTreeMap<String, (u32, u32)>,
}

impl Platform {
    /// Reads the segments behind a log.
    pub(crate) fn gather(log: &Log) -> Platform {
        let mut platform = Platform::default();
        let section = log.section();
        for block in section.blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT) {
            // A block that is damaged is told of elsewhere.
            let Ok(bytes) = block.bytes() else { continue };
            if let Ok(view) = View::new(&bytes) {
                platform.add(&view);
            }
        }
        platform
    }

    fn add(&mut self, view: &View<'_>) {
        let node = self.nodes.entry(plain(view.host()).into_owned()).or_default();
        node.processes += 1;
        node.ranks.extend(view.rank());
        for (key, value) in view.platform() {
            node.facts.insert(plain(key).into_owned(), plain(value).into_owned());
        }
        for mount in view.mounts().filter(|mount| mount.targets.1 != 0) {
            self.lustre.insert(plain(mount.point).into_owned(), mount.targets);
        }
    }

    /// For people; nothing where nothing is known.
    pub(crate) fn text(&self, out: &mut impl Write) -> Result<()> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let title = match self.nodes.len() {
            count if count > TOP => format!("node ({TOP} of {count})"),
            _ => "node".to_owned(),
        };
        writeln!(
            out,
            "\n{title:<24}{:>14}{:>11}{:>8}{:>11}  network",
            "ranks", "processes", "cores", "memory"
        )?;
        for (name, node) in self.nodes.iter().take(TOP) {
            let fact = |key: &str| node.facts.get(key).map_or("", String::as_str);
            writeln!(
                out,
                "{:<24}{:>14}{:>11}{:>8}{:>11}  {}",
                shortened(name, 23),
                shortened(&ranges(&node.ranks), 13),
                node.processes,
                fact("cores"),
                fact("memory")
                    .parse()
                    .map_or_else(|_| String::new(), |bytes| Bytes(bytes).to_string()),
                fact("network"),
            )?;
        }
        self.facts_text(out)?;
        for (point, (targets, metadata)) in &self.lustre {
            writeln!(
                out,
                "Lustre at {point}: {targets} storage targets, {metadata} metadata targets"
            )?;
        }
        Ok(())
    }

    /// Facts that are the same on all nodes, beyond those of the list.
    fn facts_text(&self, out: &mut impl Write) -> Result<()> {
        let Some(first) = self.nodes.values().next() else { return Ok(()) };
        for (key, value) in &first.facts {
            let everywhere = self.nodes.values().all(|node| node.facts.get(key) == Some(value));
            if everywhere && !COLUMNS.contains(&key.as_str()) {
                writeln!(out, "  {key:<10} {value}")?;
            }
        }
        Ok(())
    }

    /// For machines; nothing where nothing is known.
    pub(crate) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        json.line()?;
        json.key("nodes")?;
        json.open('[')?;
        for (name, node) in &self.nodes {
            json.open('{')?;
            json.key("name")?;
            json.text(name)?;
            json.key("processes")?;
            json.unsigned(node.processes)?;
            json.key("ranks")?;
            json.text(&ranges(&node.ranks))?;
            json.key("platform")?;
            json.open('{')?;
            for (key, value) in &node.facts {
                json.key(key)?;
                json.text(value)?;
            }
            json.close('}')?;
            json.close('}')?;
        }
        json.close(']')?;
        json.key("lustre")?;
        json.open('[')?;
        for (point, (targets, metadata)) in &self.lustre {
            json.open('{')?;
            json.key("mount")?;
            json.text(point)?;
            json.key("storage_targets")?;
            json.unsigned(u64::from(*targets))?;
            json.key("metadata_targets")?;
            json.unsigned(u64::from(*metadata))?;
            json.close('}')?;
        }
        json.close(']')
    }
}

/// Numbers as people write them: `0-3,7`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut text = String::new();
    let mut numbers = numbers.iter().copied().peekable();
    while let Some(first) = numbers.next() {
        let mut last = first;
        while let Some(next) = numbers.next_if(|&next| next == last + 1) {
            last = next;
        }
        let separator = if text.is_empty() { "" } else { "," };
        match last - first {
            0 => text.push_str(&format!("{separator}{first}")),
            _ => text.push_str(&format!("{separator}{first}-{last}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn ranks_are_written_as_ranges() {
        for (numbers, text) in
            [(&[][..], ""), (&[3], "3"), (&[0, 1, 2, 3, 7], "0-3,7"), (&[0, 2, 4, 5], "0,2,4-5")]
        {
            assert_eq!(ranges(&numbers.iter().copied().collect()), text);
        }
    }
}
