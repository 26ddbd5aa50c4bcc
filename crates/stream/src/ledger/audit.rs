//! Whether a daemon's books add up, at any moment and not only when somebody asks: for every process and
//! sink, what came is what was delivered, what the sink was told to go without, and what is still in the
//! spool; and what a process says it sent has come.

use netra_event::Loss;
use netra_event::frame::{Kind, Producer};

use super::{Checkpoint, Got, Outlet, Producing};

/// What does not add up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// Whose events.
    pub producer: Producer,
    /// At which sink; none if it is about what came.
    pub sink: Option<String>,
    /// Which rule.
    pub rule: Rule,
    /// The numbers, in words.
    pub says: String,
}

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A sink gets no more than came.
    Delivered,
    /// What a sink has not got is in the spool.
    InFlight,
    /// What was sent before an account came before it.
    Sent,
    /// No more comes than a process produced.
    Produced,
    /// Every call of a process that ended is an event or was dropped for a reason.
    Calls,
}

/// Everything that does not add up in a state.
#[must_use]
pub fn audit(state: &Checkpoint) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let nothing = Got::default();
    for (producer, producing) in &state.book.producers {
        let received = producing.received();
        let mut note = |sink: Option<&Outlet>, rule: Rule, says: String| {
            let sink = sink.map(|outlet| outlet.name.clone());
            breaches.push(Breach { producer: *producer, sink, rule, says });
        };
        for outlet in &state.outlets {
            let got = outlet.tally.producers.get(producer).unwrap_or(&nothing);
            let settled = got.events().saturating_add(got.skipped);
            if settled > received {
                let says = format!("{settled} events were delivered or skipped of {received}");
                note(Some(outlet), Rule::Delivered, says);
            } else if settled < received && outlet.position >= state.position {
                let lost = received - settled;
                let says =
                    format!("{lost} of {received} events are neither delivered nor in the spool");
                note(Some(outlet), Rule::InFlight, says);
            }
        }
        look_at_account(producing, &mut |rule, says| note(None, rule, says));
    }
    breaches
}

fn look_at_account(producing: &Producing, note: &mut dyn FnMut(Rule, String)) {
    let Some(account) = &producing.account else { return };
    for lane in &account.lanes {
        let row = producing.rows.get(&(Kind::Events as u8, lane.lane));
        let came = row.map_or(0, |row| row.events);
        let number = lane.lane;
        if came < lane.read {
            let says = format!("thread {number}: {} events were sent, {came} came", lane.read);
            note(Rule::Sent, says);
        }
        if !account.is_final {
            continue;
        }
        if came > lane.produced {
            let says = format!("thread {number}: {came} events came of {} produced", lane.produced);
            note(Rule::Produced, says);
        }
        let never =
            |&&(code, _): &&(u8, u64)| !Loss::from_code(code).is_some_and(Loss::is_on_the_way);
        let dropped = lane.dropped.iter().filter(never).map(|&(_, count)| count);
        let known = dropped.fold(lane.produced, u64::saturating_add);
        if known != lane.calls {
            let says =
                format!("thread {number}: {known} of {} calls are accounted for", lane.calls);
            note(Rule::Calls, says);
        }
    }
}

/// Events that came and that a sink has neither got nor will go without.
#[must_use]
pub fn in_flight(state: &Checkpoint, outlet: &Outlet) -> u64 {
    let received = state.book.producers.values().map(Producing::received);
    let received = received.fold(0, u64::saturating_add);
    let settled = outlet.tally.producers.values().map(|got| got.events() + got.skipped);
    received.saturating_sub(settled.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Account, Batch, LaneAccount};
    use crate::frame::Subject;

    const PRODUCER: Producer = Producer { host: 1, start: 2, pid: 3 };

    fn batch(kind: Kind, from: u64, body: Vec<u8>) -> Batch {
        let events = if kind == Kind::Events { (body.len() / 32) as u32 } else { 0 };
        let count = if kind == Kind::Events { events } else { 1 };
        let subject = Subject { kind, producer: PRODUCER, lane: 0, from, count, events, time: 0 };
        Batch::plain(&subject, body)
    }

    fn events(from: u64, count: usize) -> Batch {
        let slot: Vec<u8> = [1, 2, 3, 19_u64 << 32].iter().flat_map(|w| w.to_le_bytes()).collect();
        batch(Kind::Events, from, slot.repeat(count))
    }

    fn account(lane: LaneAccount) -> Batch {
        let account = Account { is_final: true, calls: Vec::new(), lanes: vec![lane] };
        batch(Kind::Ledger, 0, account.pack())
    }

    /// Ten events came; so many of them reached a sink that stands at this position of 100.
    fn state(delivered: usize, position: u64) -> Checkpoint {
        let mut state = Checkpoint { position: 100, ..Checkpoint::default() };
        state.book.receive(&events(0, 10));
        let mut outlet = Outlet { name: "a".to_owned(), position, ..Outlet::default() };
        outlet.tally.deliver(&events(0, delivered));
        state.outlets.push(outlet);
        state
    }

    #[track_caller]
    fn finds(state: &Checkpoint, wanted: &[Rule]) {
        let found: Vec<Rule> = audit(state).into_iter().map(|breach| breach.rule).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_not_delivered_is_in_the_spool_or_missing() {
        finds(&state(10, 100), &[]);
        finds(&state(4, 50), &[]);
        assert_eq!(in_flight(&state(4, 50), &state(4, 50).outlets[0]), 6);
        finds(&state(9, 100), &[Rule::InFlight]);
        finds(&state(11, 50), &[Rule::Delivered]);
        let mut skipped = state(9, 100);
        skipped.outlets[0].tally.skip(&events(9, 1).head);
        finds(&skipped, &[]);
    }

    #[test]
    fn accounts_are_held_against_what_came() {
        let right = LaneAccount {
            lane: 0,
            head: 10,
            produced: 10,
            calls: 12,
            read_slots: 10,
            read: 10,
            dropped: vec![(Loss::Budget as u8, 2)],
        };
        let with = |lane: LaneAccount| {
            let mut state = state(10, 100);
            state.book.receive(&account(lane));
            state
        };
        finds(&with(right.clone()), &[]);
        finds(&with(LaneAccount { read: 11, ..right.clone() }), &[Rule::Sent]);
        finds(&with(LaneAccount { produced: 9, calls: 11, ..right.clone() }), &[Rule::Produced]);
        finds(&with(LaneAccount { calls: 13, ..right }), &[Rule::Calls]);
    }
}
