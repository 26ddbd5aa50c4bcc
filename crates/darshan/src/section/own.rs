//! Records of modules that no format but netra's own knows: they describe themselves in the segments of
//! the section, and are shown without anybody knowing them.

use std::collections::BTreeMap;

use netra_event::segment::View;
use netra_event::{Rank, RecordId};

use super::Section;
use super::layout::KIND_SEGMENT;

/// What one process counted of one name in one such module.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRecord {
    /// The module.
    pub module: String,
    /// The process: its rank, else its place among the processes of the log.
    pub rank: Rank,
    /// The record id.
    pub id: RecordId,
    /// What it is about.
    pub name: Vec<u8>,
    /// Counters by name, in the module's own order.
    pub counters: Vec<(String, OwnValue)>,
}

/// A counter's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OwnValue {
    /// A number.
    Count(u64),
    /// Seconds.
    Seconds(f64),
}

impl Section {
    /// The records of all modules that describe themselves. A block that can not be read has none.
    #[must_use]
    pub fn own_records(&self) -> Vec<OwnRecord> {
        let segments = self.blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT);
        let mut records = Vec::new();
        for (place, block) in (0_u32..).zip(segments) {
            let Ok(bytes) = block.bytes() else { continue };
            if let Ok(view) = View::new(&bytes) {
                of_segment(&view, place, &mut records);
            }
        }
        records
    }
}

/// Adds up the threads of one process.
fn of_segment(view: &View<'_>, place: u32, records: &mut Vec<OwnRecord>) {
    let rank = Rank(i64::from(view.rank().unwrap_or(place)));
    for module in view.modules() {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let own = text(module.name);
        let names: Vec<String> =
            module.counters().map(|name| format!("{own}_{}", text(name))).collect();
        let mut files: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for record in view.records().filter(|record| record.module == module.code) {
            let sums = files.entry(record.file).or_insert_with(|| vec![0; names.len()]);
            for (word, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add(record.word(word));
            }
        }
        for (file, sums) in files {
            let Some(file) = view.file(file) else { continue };
            let value = |(name, &sum): (&String, &u64)| {
                let is_time = name.strip_prefix(&own).is_some_and(|rest| rest.starts_with("_F_"));
                // Ticks of one process lie far below 2^53.
                let seconds = || OwnValue::Seconds(sum as f64 * view.tick() / 1e9);
                (name.clone(), if is_time { seconds() } else { OwnValue::Count(sum) })
            };
            records.push(OwnRecord {
                module: own.clone(),
                rank,
                id: RecordId(file.id),
                name: file.name.to_vec(),
                counters: names.iter().zip(&sums).map(value).collect(),
            });
        }
    }
}
