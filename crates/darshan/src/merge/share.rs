//! Finds the records that every rank has, and makes one of each.

use crate::Result;
use crate::read::{Counters, Extra, Lustre, Record};
use crate::record::lustre::Component;
use crate::reduce::Shared;
use crate::write::Writer;
use netra_event::{Module, Rank, RecordId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Seek, Write};

/// The records of a module by who has them.
pub(super) struct Sharing {
    module: Module,
    /// How many ranks there are.
    size: i64,
    ranks: HashMap<RecordId, Who>,
    /// By id, so that the same logs give the same result.
    reduced: BTreeMap<RecordId, One>,
}

/// Who has a record.
#[derive(Default)]
struct Who {
    ranks: HashSet<i64>,
    /// A rank that has it twice, or a record that was reduced before: better left alone.
    odd: bool,
}

/// What becomes of the records of all ranks.
enum One {
    /// Combined.
    Counters(Box<Shared>),
    /// The first one stands for all: a file's layout and a machine are the same for everybody.
    Lustre(Vec<Component>, Vec<i64>),
    Machine(Vec<i64>, Vec<f64>),
}

impl Sharing {
    /// Whether a module's records can become one.
    pub(super) fn applies(module: Module) -> bool {
        match module {
            Module::Lustre => true,
            Module::Null | Module::Mdhim => false,
            _ => super::is_counters(module),
        }
    }

    pub(super) fn new(module: Module, size: i64) -> Sharing {
        Sharing { module, size, ranks: HashMap::new(), reduced: BTreeMap::new() }
    }

    pub(super) fn count(&mut self, id: RecordId, rank: Rank) {
        if rank.0 >= self.size {
            return;
        }
        let who = self.ranks.entry(id).or_default();
        who.odd |= rank.is_shared() || !who.ranks.insert(rank.0);
    }

    fn is_shared(&self, id: RecordId) -> bool {
        self.size > 1
            && self
                .ranks
                .get(&id)
                .is_some_and(|who| !who.odd && i64::try_from(who.ranks.len()) == Ok(self.size))
    }

    /// Takes a record that every rank has. False if it stays as it is.
    pub(super) fn take(&mut self, record: &Record<'_>) -> bool {
        if record.rank().0 >= self.size || !self.is_shared(record.id()) {
            return false;
        }
        match (self.reduced.get_mut(&record.id()), record) {
            (Some(One::Counters(shared)), Record::Counters(counters)) => shared.add(counters),
            (Some(_), _) => {}
            (None, record) => {
                let Some(one) = self.begin(record) else { return false };
                self.reduced.insert(record.id(), one);
            }
        }
        true
    }

    fn begin(&self, record: &Record<'_>) -> Option<One> {
        match record {
            Record::Counters(counters) if self.module == Module::Bgq => {
                Some(One::Machine(counters.ints.to_vec(), counters.floats.to_vec()))
            }
            Record::Counters(counters) => {
                Some(One::Counters(Box::new(Shared::new(self.module, counters)?)))
            }
            Record::Lustre(lustre) => {
                Some(One::Lustre(lustre.components.to_vec(), lustre.targets.to_vec()))
            }
            _ => None,
        }
    }

    /// Writes what was taken, and says how many records it has become.
    pub(super) fn write<W: Write + Seek>(self, writer: &mut Writer<W>) -> Result<u64> {
        let rank = Rank::SHARED;
        for (&id, one) in &self.reduced {
            let record = match one {
                One::Counters(shared) => Record::Counters(shared.record()),
                One::Lustre(components, targets) => {
                    Record::Lustre(Lustre { id, rank, components, targets })
                }
                One::Machine(ints, floats) => {
                    Record::Counters(Counters { id, rank, ints, floats, extra: Extra::None })
                }
            };
            writer.record(self.module, record)?;
        }
        Ok(self.reduced.len() as u64)
    }
}
