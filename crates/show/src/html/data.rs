//! The report as the page reads it; `web/src/model.ts` is the same shape in its words.
//!
//! It is bounded: of very many files the costliest are in it, and how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Result, Write};

use netra_analyse::detail::{Conflicts, Detail};
use netra_analyse::insight::Finding;
use netra_analyse::metric::FileFacts;
use netra_analyse::{Facts, Job, Layer, Report, Usage};
use netra_event::RecordId;

use super::column::Columns;
use super::known::Known;
use super::{drawn, functions, placed};
use crate::Json;
use crate::member::{float, integer, list, number, optional, text, truth};
use crate::report::finding::{self, Files};
use crate::report::query::Asked;
use crate::view::Views;

/// Files in a page.
const FILES: usize = 3000;
/// Files named by one finding.
const FINDING_FILES: usize = 1000;
/// The largest size of each bin.
const BINS: [&str; 10] =
    ["100 B", "1 KiB", "10 KiB", "100 KiB", "1 MiB", "4 MiB", "10 MiB", "100 MiB", "1 GiB", "more"];

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

/// Which of the page's files a record is.
type Places = BTreeMap<RecordId, u32>;

/// What a page shows.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) job: &'a Job,
    pub(super) report: &'a Report,
    pub(super) detail: &'a Detail,
    pub(super) conflicts: &'a Conflicts,
    pub(super) views: &'a Views,
}

/// Writes everything but the columns, which it collects.
pub(super) fn write<W: Write>(out: &mut W, shown: &Shown<'_>, columns: &mut Columns) -> Result<()> {
    let Shown { job, report, views, .. } = *shown;
    let facts = &report.facts;
    let files: Vec<&FileFacts> = facts.files.iter().take(FILES).collect();
    let places: Places = files.iter().map(|file| file.id).zip(0..).collect();
    let mut json = Json::new(out);
    json.open('{')?;
    text(&mut json, "netra", env!("CARGO_PKG_VERSION"))?;
    about(&mut json, job, facts)?;
    verdict(&mut json, report)?;
    trust(&mut json, job, facts)?;
    json.line()?;
    let asked = Asked::of(&job.source, facts);
    list(&mut json, "findings", &report.findings, |json, one| {
        finding::write(json, one, &asked, &Placed(&places))
    })?;
    list(&mut json, "passed", &report.passed, |json, (slug, says)| {
        json.open('{')?;
        text(json, "slug", slug)?;
        text(json, "says", says)?;
        json.close('}')
    })?;
    list(&mut json, "silenced", &report.silenced, |json, slug| json.text(slug))?;
    list(&mut json, "layers", facts.layers.keys(), |json, name| layer(json, *name, facts))?;
    functions::write(&mut json, job, facts)?;
    list(&mut json, "files", &files, |json, one| file(json, one, facts))?;
    number(&mut json, "file_count", facts.files.len() as u64)?;
    list(&mut json, "size_bins", &BINS, |json, bin| json.text(bin))?;
    targets(&mut json, job, facts)?;
    phases(&mut json, facts)?;
    ranks(&mut json, job, facts, columns)?;
    json.line()?;
    json.key("views")?;
    views.json(&mut json)?;
    let known = Known::of(job, shown.detail, &places);
    known.write(&mut json)?;
    drawn::write(&mut json, shown.detail, &known, columns)?;
    placed::write(&mut json, shown.detail, shown.conflicts, &known, columns)?;
    json.line()?;
    json.key("columns")?;
    columns.describe(&mut json)?;
    json.close('}')?;
    json.finish()
}

fn about<W: Write>(json: Out<'_, '_, W>, job: &Job, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("job")?;
    json.open('{')?;
    text(json, "source", &job.source)?;
    text(json, "command", &job.command)?;
    text(json, "id", &job.id)?;
    number(json, "nprocs", facts.nprocs)?;
    truth(json, "mpi", facts.noun() == "ranks")?;
    number(json, "of_ranks", facts.who.ranks)?;
    list(json, "others", &facts.who.others, |json, (number, name)| {
        json.open('[')?;
        json.unsigned(u64::from(*number))?;
        json.text(name)?;
        json.close(']')
    })?;
    json.key("nodes")?;
    match job.nodes {
        Some(nodes) => json.unsigned(nodes)?,
        None => json.null()?,
    }
    json.key("start")?;
    match job.start {
        Some(start) => json.float(start.0)?,
        None => json.null()?,
    }
    float(json, "run_time", facts.run_time)?;
    json.close('}')
}

fn verdict<W: Write>(json: Out<'_, '_, W>, report: &Report) -> Result<()> {
    let facts = &report.facts;
    let io = &facts.critical;
    json.line()?;
    json.key("verdict")?;
    json.open('{')?;
    text(json, "says", &crate::report::verdict(report))?;
    optional(json, "place", crate::report::place(report).as_deref())?;
    float(json, "seconds", io.seconds)?;
    float(json, "share", facts.share(io.seconds))?;
    float(json, "at_most", io.at_most)?;
    float(json, "mean", io.mean)?;
    float(json, "waiting", io.waiting)?;
    integer(json, "rank", io.rank.0)?;
    list(json, "parts", &io.parts, |json, part| json.float(*part))?;
    json.close('}')
}

fn trust<W: Write>(json: Out<'_, '_, W>, job: &Job, facts: &Facts) -> Result<()> {
    let trust = &facts.trust;
    json.line()?;
    json.key("trust")?;
    json.open('{')?;
    truth(json, "complete", trust.is_complete())?;
    json.key("coverage")?;
    match trust.coverage {
        Some(coverage) => json.float(coverage)?,
        None => json.null()?,
    }
    number(json, "summed", trust.summed)?;
    list(json, "caveats", &trust.caveats(), |json, says| json.text(says))?;
    list(json, "unknown", &trust.unknown, |json, says| json.text(says))?;
    list(json, "aside", trust.aside.iter(), |json, aside| json.text(&aside.says()))?;
    list(json, "modules", &job.modules, |json, module| json.text(module.name()))?;
    json.close('}')
}

/// Files by their places in the page, which has not all of them.
struct Placed<'a>(&'a Places);

impl Files for Placed<'_> {
    fn write<W: Write>(&self, json: &mut Json<'_, W>, one: &Finding) -> Result<()> {
        let places = one.files.iter().filter_map(|file| self.0.get(&file.0));
        let places = places.take(FINDING_FILES);
        list(json, "places", places, |json, place| json.unsigned(u64::from(*place)))?;
        number(json, "file_count", one.files.len() as u64)
    }
}

fn layer<W: Write>(json: Out<'_, '_, W>, layer: Layer, facts: &Facts) -> Result<()> {
    let sum = facts.layer(layer);
    json.line()?;
    json.open('{')?;
    text(json, "name", layer.name())?;
    for (key, value) in [
        ("files", sum.files),
        ("reads", sum.reads),
        ("writes", sum.writes),
        ("opens", sum.opens),
        ("bytes_read", sum.bytes_read),
        ("bytes_written", sum.bytes_written),
    ] {
        number(json, key, value)?;
    }
    list(json, "seconds", &sum.rank_seconds, |json, seconds| json.float(*seconds))?;
    json.key("sizes")?;
    match sizes(layer, facts) {
        Some([reads, writes]) => {
            json.open('{')?;
            list(json, "read", &reads, |json, calls| json.unsigned(*calls))?;
            list(json, "write", &writes, |json, calls| json.unsigned(*calls))?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    json.close('}')
}

/// Reads and writes of a layer by size; nothing where it does not count sizes.
fn sizes(layer: Layer, facts: &Facts) -> Option<[[u64; 10]; 2]> {
    let mut sum = None;
    for usage in facts.files.iter().filter_map(|file| file.through(layer)) {
        for (way, bins) in [usage.read.bins, usage.write.bins].into_iter().enumerate() {
            let Some(bins) = bins else { continue };
            let sums = &mut sum.get_or_insert([[0u64; 10]; 2])[way];
            sums.iter_mut().zip(bins).for_each(|(sum, calls)| *sum = sum.saturating_add(calls));
        }
    }
    sum
}

/// A file with the numbers of the layer in which most of its time was spent.
fn file<W: Write>(json: Out<'_, '_, W>, file: &FileFacts, facts: &Facts) -> Result<()> {
    let mut layers: Vec<&Usage> = file.layers.values().collect();
    layers.sort_by(|a, b| {
        let io = b.layer.is_io().cmp(&a.layer.is_io());
        io.then(b.seconds().total_cmp(&a.seconds())).then(a.layer.cmp(&b.layer))
    });
    json.line()?;
    json.open('{')?;
    text(json, "path", &file.path)?;
    optional(json, "kind", file.file_system.as_deref())?;
    optional(json, "mount", file.mount.as_deref())?;
    number(json, "ranks", file.ranks(facts.nprocs))?;
    truth(json, "shared", file.is_shared())?;
    list(json, "layers", &layers, |json, usage| json.text(usage.layer.name()))?;
    let nothing = Usage::new(Layer::Posix, file.id, netra_event::Rank::SHARED);
    let top = layers.first().copied().unwrap_or(&nothing);
    for (key, value) in [
        ("reads", top.read.calls),
        ("writes", top.write.calls),
        ("bytes_read", top.read.bytes),
        ("bytes_written", top.write.bytes),
        ("opens", top.opens),
        ("seeks", top.seeks),
    ] {
        number(json, key, value)?;
    }
    json.key("size")?;
    match file.reach() {
        Some(size) => json.unsigned(size)?,
        None => json.null()?,
    }
    let seconds = [top.read.seconds, top.write.seconds, top.meta];
    list(json, "seconds", &seconds, |json, seconds| json.float(*seconds))?;
    json.key("stripes")?;
    match &file.layout {
        Some(layout) => json.unsigned(layout.stripe_count)?,
        None => json.null()?,
    }
    json.close('}')
}

fn targets<W: Write>(json: Out<'_, '_, W>, job: &Job, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("osts")?;
    json.open('{')?;
    float(json, "median", facts.osts.seconds_median)?;
    list(json, "list", &facts.osts.by_ost, |json, ost| {
        json.open('{')?;
        number(json, "ost", ost.ost)?;
        text(json, "server", job.servers.get(&ost.ost).map_or("", String::as_str))?;
        number(json, "files", ost.files)?;
        number(json, "bytes", ost.bytes)?;
        number(json, "alone", ost.alone)?;
        float(json, "seconds_mean", ost.seconds_mean)?;
        float(json, "seconds_max", ost.seconds_max)?;
        json.close('}')
    })?;
    json.close('}')
}

fn phases<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("phases")?;
    let Some(phases) = &facts.phases else { return json.null() };
    json.open('{')?;
    float(json, "gap", phases.job.gap)?;
    json.key("period")?;
    match phases.job.period {
        Some(period) => json.float(period)?,
        None => json.null()?,
    }
    list(json, "list", &phases.job.phases, |json, phase| {
        json.open('{')?;
        float(json, "start", phase.start)?;
        float(json, "end", phase.end)?;
        for (key, value) in [
            ("calls", phase.calls),
            ("bytes_read", phase.bytes_read),
            ("bytes_written", phase.bytes_written),
            ("ranks", phase.ranks),
        ] {
            number(json, key, value)?;
        }
        for (key, (rank, seconds)) in [("fastest", phase.fastest), ("slowest", phase.slowest)] {
            json.key(key)?;
            json.open('[')?;
            json.int(rank.0)?;
            json.float(seconds)?;
            json.close(']')?;
        }
        json.close('}')
    })?;
    json.close('}')
}

/// Ranks that are known by themselves, in columns.
fn ranks<W: Write>(
    json: Out<'_, '_, W>,
    job: &Job,
    facts: &Facts,
    columns: &mut Columns,
) -> Result<()> {
    // A rank that does not fit is none.
    let known = facts
        .ranks
        .by_rank
        .iter()
        .filter_map(|(rank, one)| Some((u32::try_from(rank.0).ok()?, one)));
    columns.u32s("ranks.rank", known.clone().map(|one| one.0));
    let seconds: Vec<f32> = known.clone().map(|one| one.1.seconds as f32).collect();
    columns.f32s("ranks.seconds", &seconds);
    columns.u64s("ranks.bytes", known.clone().map(|one| one.1.bytes));
    columns.u64s("ranks.reads", known.clone().map(|one| one.1.reads));
    columns.u64s("ranks.writes", known.clone().map(|one| one.1.writes));
    let hosts: BTreeMap<&str, u32> = job
        .hosts
        .values()
        .map(String::as_str)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .zip(0..)
        .collect();
    let absent = hosts.len() as u32;
    let host = |rank: u32| job.hosts.get(&rank).and_then(|host| hosts.get(host.as_str()).copied());
    columns.u32s("ranks.host", known.clone().map(|one| host(one.0).unwrap_or(absent)));
    json.line()?;
    json.key("ranks")?;
    json.open('{')?;
    truth(json, "complete", facts.ranks.complete)?;
    truth(json, "counted", facts.ranks.counted)?;
    number(json, "count", known.count() as u64)?;
    list(json, "hosts", hosts.keys(), |json, host| json.text(host))?;
    for key in ["rank", "seconds", "bytes", "reads", "writes", "host"] {
        text(json, key, &format!("ranks.{key}"))?;
    }
    json.close('}')
}
