//! A finding: what is wrong, what it costs, how sure we are, and what to do.

use std::borrow::Cow;

use netra_event::{Bytes, Rank, RecordId, Seconds};

use super::Query;
use crate::metric::FileFacts;
use crate::{Facts, Frame, Thresholds};

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Good to know; costs little or nothing that can be measured.
    Info,
    /// Costs something.
    Warn,
    /// Costs much.
    High,
}

impl Level {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::High => "HIGH",
        }
    }

    fn of(lost: f64, facts: &Facts, limit: &Thresholds) -> Level {
        let share = facts.share(lost);
        match () {
            () if lost < limit.floor_seconds.0 => Level::Info,
            () if share >= limit.high_share.0 && lost >= limit.high_seconds.0 => Level::High,
            // A tenth of a short run is as much to who waits for it a thousand times.
            () if share >= limit.high_share.0 => Level::Warn,
            () if share >= limit.warn_share.0 && lost >= limit.warn_seconds.0 => Level::Warn,
            () => Level::Info,
        }
    }
}

/// How sure we are that this is what costs the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A plausible reading of sums.
    Low,
    /// Measured, attributed with an assumption.
    Medium,
    /// Measured.
    High,
}

impl Confidence {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// Who can act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    /// Who submits the job.
    User,
    /// Who writes the program.
    Developer,
    /// Who runs the file system.
    Administrator,
}

impl Audience {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Audience::User => "user",
            Audience::Developer => "developer",
            Audience::Administrator => "administrator",
        }
    }
}

/// A value with its unit.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// Bytes.
    Bytes(u64),
    /// Seconds.
    Seconds(f64),
    /// A part of a whole, or a factor.
    Ratio(f64),
}

/// One number that the finding stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What it is.
    pub name: Cow<'static, str>,
    /// How much.
    pub value: Value,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What, in a sentence.
    pub says: String,
    /// The command or code, ready to use.
    pub code: Option<String>,
}

impl Advice {
    /// A sentence alone.
    #[must_use]
    pub fn new(says: impl Into<String>) -> Advice {
        Advice { says: says.into(), code: None }
    }

    /// A sentence with a command or code.
    #[must_use]
    pub fn with(says: impl Into<String>, code: impl Into<String>) -> Advice {
        Advice { says: says.into(), code: Some(code.into()) }
    }
}

/// What the change would bring.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// Seconds of the run.
    pub seconds: f64,
    /// If this holds.
    pub assuming: String,
}

/// A line of the program, and what it called.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Where, innermost frame of the application first.
    pub frame: Frame,
    /// The function that was called.
    pub call: &'static str,
    /// How often.
    pub calls: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds of all ranks.
    pub seconds: f64,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's slug.
    pub slug: Cow<'static, str>,
    /// What the rule looks for, in a few words.
    pub title: Cow<'static, str>,
    /// How much it matters.
    pub level: Level,
    /// One sentence with a number.
    pub says: String,
    /// Seconds of the run, on the critical path.
    pub lost: f64,
    /// The same as a share of the run.
    pub share: f64,
    /// How sure we are.
    pub confidence: Confidence,
    /// Who can act.
    pub audience: Vec<Audience>,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// The files it is about, costliest first.
    pub files: Vec<(RecordId, String)>,
    /// The ranks it is about.
    pub ranks: Vec<Rank>,
    /// The processes it is about that are no ranks, as people call them.
    pub processes: Vec<String>,
    /// When, in seconds since the job's start.
    pub window: Option<(f64, f64)>,
    /// What to do, best first.
    pub advice: Vec<Advice>,
    /// What that would bring.
    pub gain: Option<Gain>,
    /// The lines of the program that cause it, costliest first, where call sites are known.
    pub lines: Vec<Line>,
    /// What to ask for to see its numbers again.
    pub queries: Vec<Query>,
    /// What else was seen that has this cause.
    pub symptoms: Vec<Finding>,
}

impl Finding {
    /// A finding that costs nothing that can be measured.
    pub(crate) fn note(slug: impl Into<Cow<'static, str>>, says: String) -> Finding {
        Finding {
            slug: slug.into(),
            title: Cow::Borrowed(""),
            level: Level::Info,
            says,
            lost: 0.0,
            share: 0.0,
            confidence: Confidence::Medium,
            audience: vec![Audience::User, Audience::Developer],
            evidence: Vec::new(),
            files: Vec::new(),
            ranks: Vec::new(),
            processes: Vec::new(),
            window: None,
            advice: Vec::new(),
            gain: None,
            lines: Vec::new(),
            queries: Vec::new(),
            symptoms: Vec::new(),
        }
    }

    /// A finding with its cost, which decides the level.
    pub(crate) fn costing(
        slug: impl Into<Cow<'static, str>>,
        lost: f64,
        says: String,
        facts: &Facts,
        limit: &Thresholds,
    ) -> Finding {
        let lost = lost.clamp(0.0, facts.run_time);
        let level = Level::of(lost, facts, limit);
        Finding { level, lost, share: facts.share(lost), ..Finding::note(slug, says) }
    }

    pub(crate) fn sure(self, confidence: Confidence) -> Finding {
        // A guess may warn, but not shout.
        let most = if confidence == Confidence::Low { Level::Warn } else { Level::High };
        Finding { confidence, level: self.level.min(most), ..self }
    }

    pub(crate) fn to(self, audience: &[Audience]) -> Finding {
        Finding { audience: audience.to_vec(), ..self }
    }

    pub(crate) fn count(self, name: impl Into<Cow<'static, str>>, value: u64) -> Finding {
        self.with(name, Value::Count(value))
    }

    pub(crate) fn bytes(self, name: impl Into<Cow<'static, str>>, value: u64) -> Finding {
        self.with(name, Value::Bytes(value))
    }

    pub(crate) fn seconds(self, name: impl Into<Cow<'static, str>>, value: f64) -> Finding {
        self.with(name, Value::Seconds(value))
    }

    pub(crate) fn ratio(self, name: &'static str, value: f64) -> Finding {
        self.with(name, Value::Ratio(value))
    }

    pub(crate) fn with(mut self, name: impl Into<Cow<'static, str>>, value: Value) -> Finding {
        self.evidence.push(Evidence { name: name.into(), value });
        self
    }

    pub(crate) fn about(mut self, files: &[&FileFacts]) -> Finding {
        self.files = files.iter().map(|file| (file.id, file.path.clone())).collect();
        self
    }

    pub(crate) fn by(mut self, ranks: &[Rank]) -> Finding {
        self.ranks = ranks.to_vec();
        self
    }

    pub(crate) fn advise(mut self, advice: Advice) -> Finding {
        self.advice.push(advice);
        self
    }

    pub(crate) fn gains(mut self, seconds: f64, assuming: impl Into<String>) -> Finding {
        let seconds = seconds.clamp(0.0, self.lost);
        self.gain = Some(Gain { seconds, assuming: assuming.into() });
        self
    }
}

/// Values as people read them.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Count(number) => f.write_str(&super::count(*number)),
            Value::Bytes(bytes) => Bytes(*bytes).fmt(f),
            Value::Seconds(seconds) => Seconds(*seconds).fmt(f),
            Value::Ratio(ratio) => write!(f, "{ratio:.2}"),
        }
    }
}
