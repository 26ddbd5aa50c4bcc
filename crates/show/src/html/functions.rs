//! Calls and time by function, and by the place that called. A trace of netra's own tells functions
//! apart; counters tell kinds of calls, and time metadata calls only together.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use netra_analyse::{Facts, Job, Usage};

use crate::Json;
use crate::member::{float, list, number, optional, text};

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

/// Places of a program in a page.
const SITES: usize = 1000;

/// The members `functions` and `sites`.
pub(super) fn write<W: Write>(json: Out<'_, '_, W>, job: &Job, facts: &Facts) -> Result<()> {
    json.line()?;
    if facts.functions.is_empty() {
        counted(json, facts)?
    } else {
        traced(json, facts)?
    }
    json.line()?;
    sites(json, job)
}

fn traced<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    list(json, "functions", &facts.functions, |json, one| {
        let layer = one.function.layer().name();
        function(json, layer, one.function.name(), one.calls, Some(one.seconds))
    })
}

fn counted<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    list(json, "functions", facts.layers.keys(), |json, &layer| {
        let all = facts.files.iter().filter_map(|file| file.through(layer));
        let sum = |calls: fn(&Usage) -> u64| all.clone().map(calls).fold(0, u64::saturating_add);
        let seconds = facts.layer(layer).rank_seconds;
        for (name, calls, took) in [
            ("read", sum(|usage| usage.read.calls), Some(seconds[0])),
            ("write", sum(|usage| usage.write.calls), Some(seconds[1])),
            ("open", sum(|usage| usage.opens), None),
            ("seek", sum(|usage| usage.seeks), None),
            ("stat", sum(|usage| usage.stats), None),
            ("sync", sum(|usage| usage.syncs), None),
            ("metadata", 0, Some(seconds[2])),
        ] {
            function(json, layer.name(), &format!("{} {name}", layer.name()), calls, took)?;
        }
        Ok(())
    })
}

fn function<W: Write>(
    json: Out<'_, '_, W>,
    layer: &str,
    name: &str,
    calls: u64,
    seconds: Option<f64>,
) -> Result<()> {
    json.open('{')?;
    text(json, "layer", layer)?;
    text(json, "name", name)?;
    number(json, "calls", calls)?;
    json.key("seconds")?;
    match seconds {
        Some(seconds) => json.float(seconds)?,
        None => json.null()?,
    }
    json.close('}')
}

#[derive(Default)]
struct Site {
    calls: u64,
    failed: u64,
    bytes: u64,
    seconds: f64,
}

/// Places in the program with what they call, those that took longest first.
fn sites<W: Write>(json: Out<'_, '_, W>, job: &Job) -> Result<()> {
    let mut all: BTreeMap<(u32, &str), Site> = BTreeMap::new();
    for one in &job.sites {
        let site = all.entry((one.place, one.function.name())).or_default();
        site.calls = site.calls.saturating_add(one.calls);
        site.failed = site.failed.saturating_add(one.failed);
        site.bytes = site.bytes.saturating_add(one.bytes);
        site.seconds += one.seconds;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(&b.0)));
    list(json, "sites", all.iter().take(SITES), |json, ((place, function), site)| {
        let place = job.places.get(*place as usize);
        let frame = place.and_then(|place| place.frame());
        let stack: Vec<String> = place
            .map_or(Vec::new(), |place| place.frames.iter().map(ToString::to_string).collect());
        json.open('{')?;
        text(json, "site", &frame.map_or("not known".into(), ToString::to_string))?;
        optional(json, "source", frame.and_then(|frame| frame.file.as_deref()))?;
        json.key("line")?;
        match frame.and_then(|frame| frame.line) {
            Some(line) => json.unsigned(u64::from(line))?,
            None => json.null()?,
        }
        text(json, "function", function)?;
        number(json, "calls", site.calls)?;
        number(json, "failed", site.failed)?;
        number(json, "bytes", site.bytes)?;
        float(json, "seconds", site.seconds)?;
        list(json, "stack", &stack, |json, frame| json.text(frame))?;
        json.close('}')
    })
}
