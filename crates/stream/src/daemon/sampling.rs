//! System metrics of a node, sampled while processes are recorded on it: the table `[sample]`.
//!
//! Without processes this thread sleeps until something comes, so an idle node does nothing.

use std::time::Duration;

use netra_event::frame::Kind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::section::Section;
use crate::intake::Intake;
use crate::sample::{Program, Root, Set};
use crate::stop::Stop;

/// How long an idle node sleeps before it looks whether the daemon ends.
const IDLE: Duration = Duration::from_secs(1);

/// What is sampled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// How often.
    pub interval: Duration,
    /// Whether also when nothing is recorded.
    pub idle: bool,
    /// Programs that are samplers, with their arguments.
    pub programs: Vec<Vec<String>>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { interval: Duration::from_secs(1), idle: false, programs: Vec::new() }
    }
}

impl Sampling {
    /// Reads the table; none if sampling is switched off.
    pub(super) fn read(mut section: Section<'_>) -> Option<Sampling> {
        let default = Sampling::default();
        let on = section.switch("on", true);
        let interval = section.duration("interval", default.interval);
        if interval < Duration::from_millis(10) {
            section.complain("interval", "at least 10ms are needed; on = false switches it off");
        }
        let idle = section.switch("idle", false);
        let words = |line: String| line.split_ascii_whitespace().map(str::to_owned).collect();
        let programs = section.list("programs").into_iter().map(words).collect();
        section.end();
        on.then_some(Sampling { interval, idle, programs })
    }
}

/// Samples until the daemon ends; for a thread of its own.
pub(super) fn run(sampling: &Sampling, intake: &Intake, stop: &Stop) {
    let mut set = Set::new(Root::default());
    for words in &sampling.programs {
        set.add(Box::new(Program::new(words.clone())));
    }
    while !stop.is_set() {
        let pids = intake.running();
        if pids.is_empty() && !sampling.idle {
            let _news = intake.wait_news(intake.end(), IDLE);
            continue;
        }
        set.follow(pids);
        let sample = set.sample();
        if let Err(error) = intake.publish(Kind::Metrics, 0, &sample.pack()) {
            intake.told.say(format_args!("metrics are not kept: {error}"));
        }
        rest(sampling.interval, stop);
    }
}

fn rest(interval: Duration, stop: &Stop) {
    let mut fds = [PollFd::new(stop.fd(), PollFlags::IN)];
    let time = Timespec {
        tv_sec: interval.as_secs().cast_signed(),
        tv_nsec: i64::from(interval.subsec_nanos()),
    };
    // A signal in between makes one interval shorter.
    poll(&mut fds, Some(&time)).ok();
}
