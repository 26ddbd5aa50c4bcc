//! The DXT modules: reads and writes of the lanes, by file, writes before reads, in the order in
//! which they began. A counting sort in the scratch memory, since the events lie by thread.
//!
//! Segments are written without their threads: readers before Darshan 3.5, and its Python package
//! of that version, refuse the form with threads. The packed segment behind the log has them.

use super::scratch::{self, Table};
use super::sort::heap_sort;
use super::{Encoder, Step, events_lost};
use crate::record::dxt::{Segment, head};
use netra_event::segment::{CHUNK_SLOTS, PACKED, Region, UNTRACED, View, table};
use netra_event::{Event, Kind, Layer, Module, RecordId, SLOT_BYTES};

/// A layer's trace.
pub(super) struct Traced {
    layer: Layer,
    module: Module,
    /// The version of the module whose segments have no threads.
    pub(super) version: u32,
}

pub(super) const POSIX: Traced =
    Traced { layer: Layer::Posix, module: Module::DxtPosix, version: 1 };
pub(super) const MPIIO: Traced =
    Traced { layer: Layer::Mpiio, module: Module::DxtMpiio, version: 2 };

/// Writes the region of a layer.
pub(super) fn write(encoder: &mut Encoder<'_>, traced: &Traced, words: &mut [u64]) -> Step {
    let (view, rank, clock) = (encoder.view, encoder.rank, encoder.clock);
    if view.flags() & UNTRACED != 0 {
        return Ok(());
    }
    if encoder.options.untraced {
        encoder.mark_partial(traced.module);
        return Ok(());
    }
    let trace = Trace::new(view, traced.layer);
    let sorted = trace.sort(words)?;
    let mut region = encoder.region();
    for file in view.files() {
        let (writes, reads) = sorted.of(file.index);
        if writes.is_empty() && reads.is_empty() {
            continue;
        }
        let (write_count, read_count) = (writes.len() as u64, reads.len() as u64);
        region.write(&head(RecordId(file.id), rank, view.host(), write_count, read_count))?;
        for &place in writes.iter().chain(reads) {
            let event = trace.at(place);
            let start = clock.moment(event.start);
            let segment = Segment {
                offset: event.offset,
                length: event.result,
                start,
                end: start + clock.span(event.duration),
                thread: None,
            };
            region.write(&segment.encode_unthreaded())?;
        }
    }
    let extent = region.finish()?;
    let there = extent.length != 0 || traced.layer == Layer::Posix;
    encoder.enter_as(traced.module, extent, traced.version);
    if there && (sorted.cut || events_lost(&view)) {
        encoder.mark_partial(traced.module);
    }
    Ok(())
}

/// What a trace of a layer's calls is about: 0 a write, 1 a read.
fn direction(event: &Event, layer: Layer) -> Option<usize> {
    let function = event.function().filter(|function| function.layer() == layer)?;
    match function.kind() {
        _ if event.failed || event.file == 0 => None,
        Kind::Write => Some(0),
        Kind::Read => Some(1),
        _ => None,
    }
}

/// The slots of all lanes.
struct Trace<'v> {
    view: View<'v>,
    layer: Layer,
    slots: &'v [[u8; SLOT_BYTES]],
}

/// The published events of one chunk, each with the place of its slot.
struct Walk<'t, 'v> {
    trace: &'t Trace<'v>,
    at: usize,
    end: usize,
}

impl<'v> Trace<'v> {
    fn new(view: View<'v>, layer: Layer) -> Trace<'v> {
        Trace { view, layer, slots: view.region(Region::Chunks).1.as_chunks().0 }
    }

    fn event(&self, at: usize) -> Option<Event> {
        let first = words(self.slots.get(at)?);
        let second = self.slots.get(at.saturating_add(1)).map(words);
        Event::decode(first, second).ok()
    }

    /// An event by its place.
    fn at(&self, place: u64) -> Event {
        let slot = usize::try_from(place).unwrap_or(usize::MAX);
        self.event(slot).unwrap_or(NOTHING)
    }

    /// Calls `each` with every read and write: its group, its place.
    fn each(&self, heads: &[u64], mut each: impl FnMut(usize, u64)) {
        let packed = self.view.flags() & PACKED != 0;
        let mut begin = 0_usize;
        for chunk in self.view.chunks() {
            let held = chunk.slots.len();
            let slots = if packed { held } else { CHUNK_SLOTS };
            let first = begin.saturating_add(1);
            begin = first.saturating_add(slots);
            let lane = usize::try_from(chunk.lane).unwrap_or(usize::MAX);
            let published = heads.get(lane).copied().unwrap_or(0).saturating_sub(chunk.base);
            let count = held.min(usize::try_from(published).unwrap_or(usize::MAX));
            let walk = Walk { trace: self, at: first, end: first.saturating_add(count) };
            for (at, event) in walk {
                if let Some(side) = direction(&event, self.layer) {
                    let file = usize::try_from(event.file).unwrap_or(usize::MAX);
                    each(file.saturating_mul(2).saturating_add(side), at as u64);
                }
            }
        }
    }

    /// The places of all reads and writes, group by group.
    fn sort<'s>(&self, words: &'s mut [u64]) -> Step<Sorted<'s>> {
        let mut table = Table(words);
        let lanes = scratch::lanes(&self.view);
        let heads = table.take(lanes)?;
        let files = scratch::rows::<table::File>(&self.view, Region::Files);
        let ends = table.take(files.saturating_mul(2))?;
        for lane in self.view.lanes() {
            let number = usize::try_from(lane.number).unwrap_or(usize::MAX);
            if let Some(head) = heads.get_mut(number) {
                *head = lane.head();
            }
        }
        self.each(heads, |group, _| {
            if let Some(count) = ends.get_mut(group) {
                *count = count.saturating_add(1);
            }
        });
        let mut sum = 0_u64;
        for end in ends.iter_mut() {
            // From counts to where each group begins; filling moves that to its end.
            let count = core::mem::replace(end, sum);
            sum = sum.saturating_add(count);
        }
        let places = table.rest();
        let cut = usize::try_from(sum).map_or(true, |sum| sum > places.len());
        self.each(heads, |group, place| {
            let Some(end) = ends.get_mut(group) else { return };
            let at = usize::try_from(*end).unwrap_or(usize::MAX);
            if let Some(to) = places.get_mut(at) {
                *to = place;
                *end = end.saturating_add(1);
            }
        });
        let mut begin = 0;
        for &end in ends.iter() {
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            self.order(places.get_mut(begin..end).unwrap_or_default());
            begin = end;
        }
        Ok(Sorted { ends, places, cut })
    }

    /// Puts a group into the order in which its calls began. Threads that shared no file left it so.
    fn order(&self, group: &mut [u64]) {
        let start = |place: u64| self.at(place).start;
        if !group.is_sorted_by_key(|&place| start(place)) {
            heap_sort(group, start);
        }
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = (usize, Event);

    fn next(&mut self) -> Option<(usize, Event)> {
        while self.at < self.end {
            let at = self.at;
            let first = words(self.trace.slots.get(at)?);
            self.at = at.saturating_add(if Event::is_wide(first) { 2 } else { 1 });
            // A wide event whose second slot is not published yet is none.
            if self.at <= self.end
                && let Some(event) = self.trace.event(at)
            {
                return Some((at, event));
            }
        }
        None
    }
}

/// Reads and writes by file.
struct Sorted<'s> {
    ends: &'s [u64],
    places: &'s [u64],
    cut: bool,
}

impl Sorted<'_> {
    /// The writes and the reads of a file.
    fn of(&self, file: u32) -> (&[u64], &[u64]) {
        let group = usize::try_from(file).unwrap_or(usize::MAX).saturating_mul(2);
        let end = |group: usize| {
            self.ends.get(group).and_then(|&end| usize::try_from(end).ok()).unwrap_or(0)
        };
        let begin = group.checked_sub(1).map_or(0, end);
        let (middle, end) = (end(group), end(group.saturating_add(1)));
        let range = |from, to| self.places.get(from..to).unwrap_or_default();
        (range(begin, middle), range(middle, end))
    }
}

const NOTHING: Event = Event {
    start: 0,
    duration: 0,
    offset: 0,
    length: 0,
    result: 0,
    file: 0,
    code: 0,
    failed: false,
    site: 0,
    parent: 0,
    number: 0,
    extension: 0,
};

fn words(slot: &[u8; SLOT_BYTES]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(slot.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
