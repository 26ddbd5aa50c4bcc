//! Renders batches as they come, from any number of processes.
//!
//! A batch holds events of one lane, in order; lanes of a process come in the order in which a daemon has
//! read them. Running fields follow the order of arrival. Where a lane does not go on at the index at which it
//! should, or its process says that it dropped events, what follows is marked.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use netra_event::frame::Producer;
use netra_event::segment::View;
use netra_event::{Function, Nanos, Rank};

use super::names::{Names, Sites};
use super::process::{About, Process, Reference};
use super::segment::first_drop;
use super::{Render, Told};
use crate::batch::{Batch, Events, Image, Payload};
use crate::source::Timed;

/// The processes whose batches came.
#[derive(Debug, Default)]
pub struct Live {
    processes: BTreeMap<Producer, Following>,
}

/// A process and how far its lanes are.
#[derive(Debug)]
struct Following {
    process: Process,
    lanes: HashMap<u32, Lane>,
    sites: Sites,
    /// Whether something is missing of it.
    gap: bool,
}

/// Where a lane goes on, and which thread uses it.
#[derive(Debug, Clone, Copy)]
struct Lane {
    next: u64,
    thread: u32,
}

impl Live {
    /// Renders a batch. What its events refer to is in the image of their process; without one they have
    /// no time, and are counted as missing.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn batch(
        &mut self,
        batch: &Batch,
        image: Option<&Image>,
        render: &mut dyn Render,
        out: &mut dyn Write,
    ) -> io::Result<Told> {
        let head = &batch.head;
        match batch.payload() {
            Ok(Some(Payload::Events(events))) => {
                let Some(view) = image.and_then(Image::view) else {
                    let missing = u64::from(head.events);
                    return Ok(Told { missing, ..Told::default() });
                };
                let following = self.processes.entry(head.producer).or_insert_with(|| Following {
                    process: Process::new(About::of(&view, alone(&view))),
                    lanes: HashMap::new(),
                    sites: Sites::default(),
                    gap: false,
                });
                let span = (head.lane, head.from, head.from.saturating_add(u64::from(head.count)));
                following.events(&view, span, events, render, out)
            }
            Ok(Some(Payload::Ledger(account))) if account.is_final => {
                self.processes.remove(&head.producer);
                Ok(Told::default())
            }
            _ => Ok(Told::default()),
        }
    }

    /// Something of every process was missed.
    pub fn missed(&mut self) {
        for following in self.processes.values_mut() {
            following.gap = true;
        }
    }
}

/// A process without MPI is rank 0 of its own job, as Darshan has it.
fn alone(view: &View<'_>) -> Option<Rank> {
    (view.rank().is_none() && view.nprocs().is_none()).then_some(Rank(0))
}

impl Following {
    fn events(
        &mut self,
        view: &View<'_>,
        (number, from, until): (u32, u64, u64),
        events: Events<'_>,
        render: &mut dyn Render,
        out: &mut dyn Write,
    ) -> io::Result<Told> {
        let row = || view.lanes().find(|lane| lane.number == number);
        let lane = self
            .lanes
            .entry(number)
            .or_insert_with(|| Lane { next: 0, thread: row().map_or(0, |lane| lane.tid()) });
        self.gap |= lane.next != from;
        lane.next = until;
        self.sites.forget_unknown();
        let dropped = first_drop(view);
        let mut names = Names::new(*view);
        let mut told = Told::default();
        for (index, event) in events {
            if event.code == Function::Thread.code() {
                lane.thread = u32::try_from(event.offset).unwrap_or(lane.thread);
            }
            let end = event.start.saturating_add(event.duration);
            let start = view.time(event.start);
            let timed = Timed {
                lane: number,
                index,
                thread: lane.thread,
                start: Nanos(start),
                duration: Nanos(view.time(end).saturating_sub(start)),
                event,
            };
            let to = Reference {
                file: names.file(event.file),
                site: self.sites.name(view, event.site),
                extension: view.extension(event.extension),
                after_loss: self.gap || dropped.is_some_and(|first| first <= end),
            };
            told.events += 1;
            let call = self.process.call(&timed, to, &mut |index| names.file(index));
            told.written += u64::from(render.call(out, &call)?);
        }
        Ok(told)
    }
}
