//! Comparing our clock with that of the hub we send to. Every few seconds a ping carries our time there and
//! comes back with the hub's; what follows of it is told as metrics, to Prometheus and, while events
//! flow, along with them, so that whoever keeps the events can set their times right.

use std::time::{Duration, Instant};

use netra_event::frame::Kind;

use crate::intake::Intake;
use crate::offset::{Estimator, Trip};
use crate::pack::{Packer, Unpacker};
use crate::sample::Sample;

/// How often the hub is asked while something is sent.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// How often the answer travels on, while events do.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Our clock and a hub's.
#[derive(Debug)]
pub(super) struct Comparison {
    upstream: String,
    estimator: Estimator,
    asked: Option<Instant>,
    told: Option<Instant>,
    /// Steps that were told.
    steps: u64,
    /// Whether events were sent since.
    events: bool,
}

impl Comparison {
    pub(super) fn new(upstream: &str) -> Comparison {
        Comparison {
            upstream: upstream.to_owned(),
            estimator: Estimator::default(),
            asked: None,
            told: None,
            steps: 0,
            events: false,
        }
    }

    /// A new connection: it is asked at once.
    pub(super) fn begin(&mut self) {
        self.asked = None;
    }

    /// Events were sent.
    pub(super) fn events(&mut self) {
        self.events = true;
    }

    /// Whether it is time to ask.
    pub(super) fn is_due(&self) -> bool {
        let due = |at: Instant| self.events && at.elapsed() >= ASK_EVERY;
        self.asked.is_none_or(due)
    }

    /// The body of a ping.
    pub(super) fn ask(&mut self, now: u64) -> Vec<u8> {
        self.asked = Some(Instant::now());
        let mut packer = Packer::default();
        packer.long(now);
        packer.bytes
    }

    /// What came back; a hub of an older version says nothing.
    pub(super) fn hear(&mut self, body: &[u8], intake: &Intake) {
        let mut unpacker = Unpacker::new(body);
        let (Ok(sent), Ok(there)) = (unpacker.long(), unpacker.long()) else { return };
        let back = intake.clock.now();
        self.estimator.add(&Trip { sent, there, back });
        let Some(offset) = self.estimator.at(back) else { return };
        let steps = self.estimator.steps();
        let metric =
            |name: &str| format!("netra_stream_clock_{name}{{upstream=\"{}\"}}", self.upstream);
        intake.told.set(&metric("ahead_nanoseconds"), offset.ahead);
        let narrow = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        intake.told.set(&metric("error_nanoseconds"), narrow(offset.error));
        intake.told.set(&metric("steps"), narrow(steps));
        if steps > self.steps {
            let ahead = offset.ahead as f64 / 1e9;
            intake.told.say(format_args!(
                "a clock was stepped: that of {} is now {ahead:+.3} s ahead of ours",
                self.upstream
            ));
        }
        let due = |at: Instant| self.events && at.elapsed() >= TELL_EVERY;
        if steps > self.steps || self.told.is_none_or(due) {
            let mut sample = Sample::default();
            sample.gauge(&self.upstream, "clock.ahead_ns", offset.ahead as f64);
            sample.gauge(&self.upstream, "clock.error_ns", offset.error as f64);
            sample.count(&self.upstream, "clock.steps", steps);
            // Without room there are more important things than this.
            intake.publish(Kind::Metrics, 0, &sample.pack()).ok();
            self.told = Some(Instant::now());
            self.events = false;
        }
        self.steps = steps;
    }
}

/// The hub's answer to a ping: its time behind the caller's. Callers of an older version do not ask.
pub(super) fn answer(question: &[u8], now: u64) -> Vec<u8> {
    let mut packer = Packer::default();
    if let Ok(sent) = Unpacker::new(question).long() {
        packer.long(sent).long(now);
    }
    packer.bytes
}
