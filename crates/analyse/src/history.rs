//! Many runs of one program: how much they vary, which are unusual, and whether the time of day matters.
//!
//! Runs are compared with runs of the same program on as many processes. What is unusual is measured as
//! stragglers are: in median absolute deviations, with floors.

use std::collections::BTreeMap;

use netra_event::{Rank, Seconds};

use crate::pattern::{median, stragglers};
use crate::{Report, Thresholds, program};

/// One run, as far as history looks at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Where it was read from.
    pub source: String,
    /// The program, without its folder and arguments.
    pub program: String,
    /// Processes.
    pub processes: u64,
    /// When it began, seconds since 1970; nothing where that is not known.
    pub start: Option<Seconds>,
    /// The hour of the day at which it began, as the people there count it.
    pub hour: Option<u8>,
    /// Seconds it ran.
    pub run_seconds: f64,
    /// Seconds in I/O of its slowest rank.
    pub io_seconds: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// What was found above INFO: slug and seconds lost.
    pub findings: Vec<(String, f64)>,
}

impl Past {
    /// What history needs of a report.
    #[must_use]
    pub fn of(source: &str, start: Option<Seconds>, hour: Option<u8>, report: &Report) -> Past {
        let facts = &report.facts;
        let loud = report.findings.iter().filter(|one| one.level > crate::insight::Level::Info);
        Past {
            source: source.to_owned(),
            program: program(&facts.command).to_owned(),
            processes: facts.nprocs,
            start,
            hour,
            run_seconds: facts.run_time,
            io_seconds: facts.critical.seconds,
            bytes: facts.files.iter().map(|file| file.bytes()).fold(0, u64::saturating_add),
            findings: loud.map(|one| (one.slug.to_string(), one.lost)).collect(),
        }
    }
}

/// A value over many runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// The middle.
    pub median: f64,
    /// The most.
    pub most: f64,
    /// Median absolute deviation as a share of the median.
    pub varies: f64,
}

impl Spread {
    /// The spread of these values; zeros where there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Spread {
        let mut all = values.to_vec();
        let Some(middle) = median(&mut all) else { return Spread::default() };
        let least = all.iter().copied().min_by(f64::total_cmp).unwrap_or(middle);
        let most = all.iter().copied().max_by(f64::total_cmp).unwrap_or(middle);
        all.iter_mut().for_each(|value| *value = (*value - middle).abs());
        let deviation = median(&mut all).unwrap_or(0.0);
        let varies = if middle > 0.0 { deviation / middle } else { 0.0 };
        Spread { least, median: middle, most, varies }
    }
}

/// A run that is not like the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Unusual {
    /// Which of the runs.
    pub run: usize,
    /// Its seconds in I/O.
    pub io_seconds: f64,
    /// The same as a multiple of the median.
    pub factor: f64,
}

/// Runs that began in the same part of the day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Daytime {
    /// First hour, of six.
    pub from: u8,
    /// Runs.
    pub runs: u64,
    /// Median seconds in I/O.
    pub io_seconds: f64,
}

/// The runs of one program on so many processes.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The program.
    pub program: String,
    /// Processes.
    pub processes: u64,
    /// The runs, oldest first.
    pub runs: Vec<Past>,
    /// How long they ran.
    pub run_seconds: Spread,
    /// Their I/O.
    pub io_seconds: Spread,
    /// Bytes a second of I/O, of runs with any.
    pub rate: Spread,
    /// Slow ones, slowest first.
    pub unusual: Vec<Unusual>,
    /// By quarter of the day, where at least two quarters have runs.
    pub daytimes: Vec<Daytime>,
    /// I/O of the newer half as a multiple of the older half's, from four runs on.
    pub trend: Option<f64>,
    /// How many runs had which finding, most often first.
    pub findings: Vec<(String, u64)>,
}

/// Groups runs and looks at each group, the one with most runs first.
#[must_use]
pub fn histories(runs: Vec<Past>, limit: &Thresholds) -> Vec<History> {
    let mut groups: BTreeMap<(String, u64), Vec<Past>> = BTreeMap::new();
    for run in runs {
        groups.entry((run.program.clone(), run.processes)).or_default().push(run);
    }
    let mut all: Vec<History> = groups
        .into_iter()
        .map(|((program, processes), runs)| one(program, processes, runs, limit))
        .collect();
    all.sort_by(|a, b| b.runs.len().cmp(&a.runs.len()).then_with(|| a.program.cmp(&b.program)));
    all
}

fn one(program: String, processes: u64, mut runs: Vec<Past>, limit: &Thresholds) -> History {
    runs.sort_by(|a, b| {
        let start = |run: &Past| run.start.map_or(0.0, |start| start.0);
        start(a).total_cmp(&start(b)).then_with(|| a.source.cmp(&b.source))
    });
    let io: Vec<f64> = runs.iter().map(|run| run.io_seconds).collect();
    let ran: Vec<f64> = runs.iter().map(|run| run.run_seconds).collect();
    let rates: Vec<f64> = runs
        .iter()
        .filter(|run| run.io_seconds > 0.0 && run.bytes > 0)
        .map(|run| run.bytes as f64 / run.io_seconds)
        .collect();
    let io_seconds = Spread::of(&io);
    History {
        program,
        processes,
        run_seconds: Spread::of(&ran),
        rate: Spread::of(&rates),
        unusual: unusual(&io, io_seconds.median, limit),
        daytimes: daytimes(&runs),
        trend: trend(&io),
        findings: findings(&runs),
        io_seconds,
        runs,
    }
}

/// Runs stand for ranks here: who is far beyond the median.
fn unusual(io: &[f64], middle: f64, limit: &Thresholds) -> Vec<Unusual> {
    let times: Vec<(Rank, f64)> = (0..).map(Rank).zip(io.iter().copied()).collect();
    let found = stragglers(&times, limit).into_iter().filter(|_| io.len() >= 3);
    let one = |slow: crate::pattern::Straggler| Unusual {
        run: usize::try_from(slow.rank.0).unwrap_or(0),
        io_seconds: slow.seconds,
        factor: if middle > 0.0 { slow.seconds / middle } else { f64::INFINITY },
    };
    found.map(one).collect()
}

/// Values that it takes before one of them can be odd.
const ENOUGH: usize = 5;
/// How many median deviations a value must be away from the middle.
const DEVIATIONS: f64 = 5.0;
/// And how much of the middle: runs that are always alike differ by nothing.
const APART: f64 = 0.25;

/// A value that is not like the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Odd {
    /// Which of the values.
    pub place: usize,
    /// The value.
    pub value: f64,
    /// The same as a multiple of the middle.
    pub factor: f64,
}

/// Which of these values, one a run, are far from the middle on either side; runs without a value are left out.
#[must_use]
pub fn odd(values: &[Option<f64>]) -> Vec<Odd> {
    let mut known: Vec<f64> = values.iter().flatten().copied().collect();
    if known.len() < ENOUGH {
        return Vec::new();
    }
    let Some(middle) = median(&mut known).filter(|middle| *middle > 0.0) else { return Vec::new() };
    known.iter_mut().for_each(|value| *value = (*value - middle).abs());
    let deviation = median(&mut known).unwrap_or(0.0);
    let beyond = (DEVIATIONS * deviation).max(APART * middle);
    let placed = values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)));
    let far = placed.filter(|(_, value)| (value - middle).abs() > beyond);
    far.map(|(place, value)| Odd { place, value, factor: value / middle }).collect()
}

fn daytimes(runs: &[Past]) -> Vec<Daytime> {
    let mut quarters: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for run in runs {
        if let Some(hour) = run.hour {
            quarters.entry(hour / 6 * 6).or_default().push(run.io_seconds);
        }
    }
    if quarters.len() < 2 {
        return Vec::new();
    }
    let one = |(from, mut times): (u8, Vec<f64>)| Daytime {
        from,
        runs: times.len() as u64,
        io_seconds: median(&mut times).unwrap_or(0.0),
    };
    quarters.into_iter().map(one).collect()
}

fn trend(io: &[f64]) -> Option<f64> {
    if io.len() < 4 {
        return None;
    }
    let (older, newer) = io.split_at(io.len() / 2);
    let (older, newer) = (median(&mut older.to_vec())?, median(&mut newer.to_vec())?);
    (older > 0.0).then(|| newer / older)
}

fn findings(runs: &[Past]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (slug, _) in runs.iter().flat_map(|run| &run.findings) {
        *counts.entry(slug).or_default() += 1;
    }
    let mut counts: Vec<(String, u64)> =
        counts.into_iter().map(|(slug, count)| (slug.to_owned(), count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

#[cfg(test)]
mod tests {
    use super::{Odd, Past, histories, odd, program};
    use crate::Thresholds;
    use netra_event::Seconds;

    fn run(place: u64, program: &str, hour: u8, io_seconds: f64) -> Past {
        Past {
            source: format!("{place}.darshan"),
            program: program.into(),
            processes: 4,
            start: Some(Seconds(place as f64 * 86_400.0)),
            hour: Some(hour),
            run_seconds: 100.0,
            io_seconds,
            bytes: 1 << 30,
            findings: if io_seconds > 20.0 { vec![("slow-ost".into(), 30.0)] } else { Vec::new() },
        }
    }

    #[test]
    fn what_is_far_from_the_middle_is_odd_on_either_side() {
        let mut values: Vec<Option<f64>> = [10.0, 10.5, 9.5, 10.0, 11.0].map(Some).to_vec();
        assert_eq!(odd(&values), []);
        values.extend([Some(30.0), None, Some(2.0)]);
        let far =
            [Odd { place: 5, value: 30.0, factor: 3.0 }, Odd { place: 7, value: 2.0, factor: 0.2 }];
        assert_eq!(odd(&values), far);
        assert_eq!(odd(&values[3..7]), [], "three values are too few");
        assert_eq!(odd(&[Some(0.0); 9]), [], "zero is no middle to be compared with");
    }

    #[test]
    fn a_slow_run_stands_out_and_its_finding_is_counted() {
        let mut runs: Vec<Past> = (0..9).map(|day| run(day, "wave", 3, 10.0)).collect();
        runs.push(run(9, "wave", 15, 60.0));
        runs.push(run(10, "other", 3, 1.0));
        let all = histories(runs, &Thresholds::default());
        let wave = &all[0];
        assert_eq!((wave.program.as_str(), wave.runs.len(), all.len()), ("wave", 10, 2));
        assert_eq!((wave.unusual.len(), wave.unusual[0].run, wave.unusual[0].factor), (1, 9, 6.0));
        assert_eq!(
            (wave.io_seconds.least, wave.io_seconds.median, wave.io_seconds.most),
            (10.0, 10.0, 60.0)
        );
        assert_eq!(wave.findings, [("slow-ost".to_owned(), 1)]);
        let day: Vec<(u8, u64, f64)> =
            wave.daytimes.iter().map(|one| (one.from, one.runs, one.io_seconds)).collect();
        assert_eq!(day, [(0, 9, 10.0), (12, 1, 60.0)]);
    }

    #[test]
    fn runs_that_get_slower_have_a_trend() {
        let runs =
            (0..8).map(|day| run(day, "wave", 3, if day < 4 { 10.0 } else { 15.0 })).collect();
        assert_eq!(histories(runs, &Thresholds::default())[0].trend, Some(1.5));
        let few = (0..3).map(|day| run(day, "wave", 3, 10.0)).collect();
        let few = &histories(few, &Thresholds::default())[0];
        assert_eq!((few.trend, few.daytimes.len()), (None, 0));
        assert!(histories(Vec::new(), &Thresholds::default()).is_empty());
    }

    #[test]
    fn a_program_is_the_first_word_without_folders() {
        assert_eq!(program("/home/me/bin/wave -n 4 /scratch"), "wave");
        assert_eq!(program(""), "");
    }
}
