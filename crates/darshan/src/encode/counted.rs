//! Modules whose records are counters: each file's records of all threads become one.

use super::clock::Clock;
use super::frequent::PAIRS;
use super::group::{Groups, Shards};
use super::scratch::Table;
use super::{Encoder, Error, Step, mpiio, posix, stdio};
use crate::counter;
use crate::record::{base, layout};
use netra_event::segment::shard::{direction, posix as from_posix, stdio as from_stdio};
use netra_event::segment::{File, Record, View};
use netra_event::{Module, RecordId};

/// The codes of the modules whose records have names.
pub(super) const MODULES: [u32; 8] = [
    Module::Posix as u32,
    Module::Mpiio as u32,
    Module::Stdio as u32,
    Module::H5f as u32,
    Module::H5d as u32,
    Module::PnetcdfFile as u32,
    Module::PnetcdfVar as u32,
    Module::Lustre as u32,
];

/// The most whole numbers and floats that a record has.
const INTS: usize = counter::pnetcdf_var::INT.len();
const FLOATS: usize = counter::posix::FLOAT.len();

/// How a module's counters are made.
pub(super) struct Counted {
    pub(super) module: Module,
    /// Fills the counters of a file; false leaves the file out.
    pub(super) fill: fn(&Part<'_, '_, '_>, &mut [u64], &mut Counters) -> bool,
}

/// What a record is made from.
pub(super) struct Part<'s, 'v, 'f> {
    pub(super) file: File<'f>,
    pub(super) shards: Shards<'s, 'v>,
    pub(super) clock: Clock,
}

/// The counters of a record.
pub(super) struct Counters {
    ints: [i64; INTS],
    floats: [f64; FLOATS],
}

impl Counters {
    pub(super) fn set(&mut self, index: usize, value: u64) {
        if let Some(place) = self.ints.get_mut(index) {
            *place = value.cast_signed();
        }
    }

    pub(super) fn set_float(&mut self, index: usize, value: f64) {
        if let Some(place) = self.floats.get_mut(index) {
            *place = value;
        }
    }
}

/// Writes a module's region.
pub(super) fn write(encoder: &mut Encoder<'_>, counted: &Counted, words: &mut [u64]) -> Step {
    let Counted { module, fill } = *counted;
    let (view, rank, clock) = (encoder.view, encoder.rank, encoder.clock);
    let Some(layout) = layout(module, counter::version(module)) else { return Ok(()) };
    let mut table = Table(words);
    let groups = Groups::new(view, u32::from(module.code()), &mut table)?;
    if groups.is_empty() {
        // Its region is empty, which is how a module without records looks anyway.
        return Ok(());
    }
    let pairs = table.rest().get_mut(..PAIRS * 2).ok_or(Error::Scratch)?;
    let mut region = encoder.region();
    for file in view.files() {
        let shards = groups.of(file.index);
        if shards.clone().next().is_none() {
            continue;
        }
        let mut counters = Counters { ints: [0; INTS], floats: [0.0; FLOATS] };
        if !fill(&Part { file, shards, clock }, pairs, &mut counters) {
            continue;
        }
        region.write(&base(RecordId(file.id), rank))?;
        if layout.head != 0 {
            // A data set or variable says which file it belongs to.
            let parent = view.file(file.parent).filter(|_| file.parent != 0);
            region.write(&parent.map_or(0, |parent| parent.id).to_le_bytes())?;
        }
        for value in counters.ints.iter().take(layout.ints) {
            region.write(&value.to_le_bytes())?;
        }
        for value in counters.floats.iter().take(layout.floats) {
            region.write(&value.to_le_bytes())?;
        }
    }
    let extent = region.finish()?;
    encoder.enter(module, extent);
    Ok(())
}

/// How a word of one thread's record joins that of another's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Counts, bytes, times.
    Sum,
    /// The largest: highest bytes, ends.
    Max,
    /// The smallest that is not 0: starts.
    First,
    /// Goes with another word: taken from the record in which that one is largest.
    With(usize),
    /// The same among the records in which it is not 0.
    Set(usize),
}

/// Joins the words of all threads.
pub(super) fn join<const N: usize>(shards: Shards<'_, '_>, rules: &[Rule; N]) -> [u64; N] {
    let mut words = [0_u64; N];
    for record in shards {
        let before = words;
        for ((index, word), rule) in words.iter_mut().enumerate().zip(rules) {
            let new = record.word(index);
            *word = match *rule {
                Rule::Sum => word.wrapping_add(new),
                Rule::Max => new.max(*word),
                Rule::First if *word == 0 || new == 0 => new.max(*word),
                Rule::First => new.min(*word),
                Rule::Set(_) if new == 0 => *word,
                Rule::With(key) | Rule::Set(key) => {
                    let larger = record.word(key) > before.get(key).copied().unwrap_or(0);
                    if larger || *word == 0 { new } else { *word }
                }
            };
        }
    }
    words
}

/// Whether this is a standard stream, which is there without anybody asking.
pub(super) fn is_standard_stream(file: &File<'_>) -> bool {
    matches!(file.name, b"<STDIN>" | b"<STDOUT>" | b"<STDERR>")
}

/// Whether a segment counts anything that its log would be about: standard streams that were neither read nor written
/// are there without anybody asking.
#[must_use]
pub fn counts(view: &View<'_>) -> bool {
    let moved = |record: &Record<'_>| {
        let is = |module: Module| record.module == u32::from(module.code());
        let words = match () {
            () if is(Module::Posix) => [from_posix::READ, from_posix::WRITE],
            () if is(Module::Stdio) => {
                return record.word(from_stdio::READ + from_stdio::CALLS) > 0
                    || record.word(from_stdio::WRITE + from_stdio::CALLS) > 0;
            }
            () => return false,
        };
        words.iter().any(|&word| record.word(word + direction::CALLS) > 0)
    };
    view.records().any(|record| {
        view.file(record.file).is_some_and(|file| !is_standard_stream(&file)) || moved(&record)
    })
}

const _: () = assert!(stdio::COUNTED.module as u32 == MODULES[2]);
const _: () = assert!(mpiio::COUNTED.module as u32 == MODULES[1]);
const _: () = assert!(posix::COUNTED.module as u32 == MODULES[0]);
