//! The events of all threads of a process in one order: that in which the calls ended, which is
//! the order within each lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netra_event::segment::{Events, View};
use netra_event::{Event, Function, Nanos};

/// An event in absolute time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timed {
    /// The lane, and the event's index in it: with the process, its name for ever.
    pub lane: u32,
    /// See `lane`.
    pub index: u64,
    /// The kernel's number of the thread.
    pub thread: u32,
    /// When the call began: nanoseconds since 1970, UTC.
    pub start: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// The call, in ticks.
    pub event: Event,
}

/// The events of a segment.
#[derive(Debug)]
pub struct Timeline<'a> {
    view: View<'a>,
    lanes: Vec<Lane<'a>>,
    /// Which lane has the earliest end, by its place in `lanes`.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

#[derive(Debug)]
struct Lane<'a> {
    number: u32,
    thread: u32,
    events: Events<'a>,
    ahead: Option<(u64, Event)>,
}

impl<'a> Timeline<'a> {
    /// Begins with the first call that ended.
    #[must_use]
    pub fn new(view: View<'a>) -> Timeline<'a> {
        let mut timeline = Timeline { view, lanes: Vec::new(), next: BinaryHeap::new() };
        for lane in view.lanes() {
            let (number, thread, events) = (lane.number, lane.tid(), lane.events());
            timeline.lanes.push(Lane { number, thread, events, ahead: None });
            timeline.advance(timeline.lanes.len() - 1);
        }
        timeline
    }

    /// Looks at the next event of a lane.
    fn advance(&mut self, place: usize) {
        let lane = &mut self.lanes[place];
        lane.ahead = lane.events.next();
        if let Some((_, event)) = lane.ahead {
            self.next.push(Reverse((event.start.saturating_add(event.duration), place)));
        }
    }
}

impl Iterator for Timeline<'_> {
    type Item = Timed;

    fn next(&mut self) -> Option<Timed> {
        let Reverse((end, place)) = self.next.pop()?;
        let lane = &mut self.lanes[place];
        let (index, event) = lane.ahead.take()?;
        if event.code == Function::Thread.code() {
            // Whoever takes over a lane says its number.
            lane.thread = u32::try_from(event.offset).unwrap_or(lane.thread);
        }
        let start = self.view.time(event.start);
        let timed = Timed {
            lane: lane.number,
            index,
            thread: lane.thread,
            start: Nanos(start),
            duration: Nanos(self.view.time(end).saturating_sub(start)),
            event,
        };
        self.advance(place);
        Some(timed)
    }
}
