//! What a log lacks, said in one place for everybody who reads logs.
//!
//! Whoever reads a log hands over what was read; the rest is read here, so that nobody calls a log complete of
//! which he has seen only a part. What is looked at: the header's seal, the job, the names, every module's
//! records, netra's section with each of its blocks, and whether the events that processes made are in it.

use crate::damage::{Damage, Part, Reason};
use crate::read::{Log, Records};
use crate::section::Block;
use crate::section::layout::KIND_SEGMENT;
use netra_event::segment::View;
use netra_event::{Loss, Module};

/// What is missing from a log, as it is found.
pub struct Missing<'a> {
    log: &'a Log,
    found: Vec<Damage>,
    /// Bit `n`: the module with code `n` has been read.
    read: u64,
    blocks: bool,
}

impl<'a> Missing<'a> {
    /// What is known when a log is opened: of the header, the job and the names.
    #[must_use]
    pub fn of(log: &'a Log) -> Missing<'a> {
        Missing { log, found: log.damage().to_vec(), read: 0, blocks: false }
    }

    /// A module has been read to its end.
    pub fn read(&mut self, records: &Records) {
        self.read |= bit(records.module());
        self.found.extend_from_slice(records.damage());
    }

    /// The same by name, for who has kept only what was wrong.
    pub fn read_module(&mut self, module: Module, damage: Vec<Damage>) {
        self.read |= bit(module);
        self.found.extend(damage);
    }

    /// Every block of the section has been read by somebody else, who says what was wrong. Whether all events are
    /// there was then asked, too.
    pub fn read_blocks(&mut self, damage: Vec<Damage>) {
        self.blocks = true;
        self.found.extend(damage);
    }

    /// Everything that is missing; what nobody has read yet is read now.
    #[must_use]
    pub fn all(mut self) -> Vec<Damage> {
        for module in self.log.modules().filter(|&module| self.read & bit(module) == 0) {
            let mut records = self.log.records(module);
            while records.next_record().is_some() {}
            self.found.extend_from_slice(records.damage());
        }
        let section = self.log.section();
        self.found.extend_from_slice(section.damage());
        if !self.blocks {
            self.found.extend(section.blocks().iter().filter_map(look));
        }
        let mut said: Vec<Damage> = Vec::new();
        for damage in self.found {
            if !said.contains(&damage) {
                said.push(damage);
            }
        }
        said
    }
}

impl Log {
    /// Everything that is missing from this log, all of which is read for it.
    #[must_use]
    pub fn missing(&self) -> Vec<Damage> {
        Missing::of(self).all()
    }
}

fn bit(module: Module) -> u64 {
    1 << module.code()
}

/// Reads a block for what is wrong with it.
fn look(block: &Block) -> Option<Damage> {
    if block.head.kind != KIND_SEGMENT {
        return block.check().err();
    }
    match block.bytes() {
        Ok(bytes) => lost(block, &bytes),
        Err(damage) => Some(damage),
    }
}

/// What is wrong with a process's segment: it can not be read, or events that the process made are not in it,
/// because they were dropped, were taken by a daemon, or stayed where they were.
#[must_use]
pub fn lost(block: &Block, bytes: &[u8]) -> Option<Damage> {
    let damage = |reason| Some(Damage { part: Part::Section, at: block.offset, reason });
    let Ok(view) = View::new(bytes) else { return damage(Reason::Corrupt) };
    // What a setting keeps out was never to be counted.
    let holes = || Loss::ALL.iter().filter(|&&loss| loss != Loss::Excluded);
    let (mut made, mut there) = (0_u64, 0_u64);
    for lane in view.lanes() {
        let dropped = holes().map(|&loss| lane.dropped(loss).0).fold(0, u64::saturating_add);
        made = made.saturating_add(lane.produced()).saturating_add(dropped);
        there = there.saturating_add(lane.events().count() as u64);
    }
    let gone = made.saturating_sub(there);
    (gone > 0).then_some(()).and_then(|()| damage(Reason::Events { pid: view.pid(), gone, made }))
}
