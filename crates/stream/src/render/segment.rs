//! Renders what one process has recorded: its segment, or what a log carries of it.

use std::io::{self, Write};

use netra_event::segment::View;
use netra_event::{Loss, Rank};

use super::Render;
use super::names::{Names, Sites};
use super::process::{About, Process, Reference};
use crate::source::Timeline;

/// What was rendered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Events there were.
    pub events: u64,
    /// Events that the form had a place for.
    pub written: u64,
    /// Events of functions that are not known here: a newer netra wrote them.
    pub unknown: u64,
    /// Events that the process produced and that are not here: dropped, or taken by a daemon.
    pub missing: u64,
}

impl Told {
    /// Adds another process's.
    pub fn add(&mut self, other: Told) {
        self.events += other.events;
        self.written += other.written;
        self.unknown += other.unknown;
        self.missing = self.missing.saturating_add(other.missing);
    }
}

/// Renders the events of a segment in the order in which the calls ended.
///
/// # Errors
/// The output can not be written.
pub fn segment(
    view: View<'_>,
    rank: Option<Rank>,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<Told> {
    let mut names = Names::new(view);
    let mut sites = Sites::default();
    let mut process = Process::new(About::of(&view, rank));
    let gap = first_gap(&view);
    let mut told = Told::default();
    for timed in Timeline::new(view) {
        let ended = timed.event.start.saturating_add(timed.event.duration);
        let to = Reference {
            file: names.file(timed.event.file),
            site: sites.name(&view, timed.event.site),
            extension: view.extension(timed.event.extension),
            after_loss: gap.is_some_and(|gap| gap <= ended),
        };
        told.events += 1;
        told.unknown += u64::from(timed.event.function().is_none());
        let call = process.call(&timed, to, &mut |index| names.file(index));
        told.written += u64::from(render.call(out, &call)?);
    }
    let made = view.lanes().map(|lane| lane.produced().saturating_add(dropped(&lane)));
    told.missing = made.fold(0, u64::saturating_add).saturating_sub(told.events);
    Ok(told)
}

/// Losses that leave holes. What a setting keeps out was never to be counted.
fn holes() -> impl Iterator<Item = Loss> {
    Loss::ALL.iter().copied().filter(|&loss| loss != Loss::Excluded)
}

fn dropped(lane: &netra_event::segment::LaneView<'_>) -> u64 {
    holes().map(|loss| lane.dropped(loss).0).fold(0, u64::saturating_add)
}

/// The tick behind which events are missing: the first that was dropped, or the very beginning if a
/// reader has taken some.
fn first_gap(view: &View<'_>) -> Option<u64> {
    let taken = |lane: &netra_event::segment::LaneView<'_>| {
        let first = lane.events().next().map(|(index, _)| index);
        lane.produced() > 0 && first != Some(0)
    };
    if view.lanes().any(|lane| taken(&lane)) {
        return Some(0);
    }
    first_drop(view)
}

/// The tick of the first event that was dropped.
pub(super) fn first_drop(view: &View<'_>) -> Option<u64> {
    let losses = view.lanes().flat_map(|lane| holes().map(move |loss| lane.dropped(loss)));
    losses.filter(|&(count, _, _)| count > 0).map(|(_, first, _)| first).min()
}
