//! The report for machines: everything, in the shape that `docs/reference/report-json.md` describes.
//! Members are only ever added; a change of meaning is a new number in `report`.

use std::io::{Result, Write};

use netra_analyse::metric::{FileFacts, Sharing};
use netra_analyse::pattern::{Conflicts, Contention, Hazard, PhaseList, Steps};
use netra_analyse::{Direction, Extreme, Facts, Flow, Report, Thresholds, Usage};
use netra_event::Rank;

use super::finding::{self, Named};
use super::query::Asked;
use crate::Json;
use crate::attendance;
use crate::member::{float, list, number, optional, text, truth};

/// The version of the shape.
const VERSION: u64 = 1;

type Out<'a, 'w, W> = &'a mut Json<'w, W>;

/// Writes one report as one document.
pub fn document<W: Write>(
    out: &mut W,
    name: &str,
    report: &Report,
    limit: &Thresholds,
) -> Result<()> {
    let mut json = Json::new(out);
    json.open('{')?;
    number(&mut json, "report", VERSION)?;
    text(&mut json, "log", name)?;
    job(&mut json, &report.facts)?;
    io(&mut json, &report.facts)?;
    trust(&mut json, &report.facts)?;
    json.line()?;
    let about = Asked::of(name, &report.facts);
    list(&mut json, "findings", &report.findings, |json, one| {
        finding::write(json, one, &about, &Named)
    })?;
    list(&mut json, "passed", &report.passed, |json, (slug, says)| {
        json.open('{')?;
        text(json, "slug", slug)?;
        text(json, "says", says)?;
        json.close('}')
    })?;
    list(&mut json, "silenced", &report.silenced, |json, slug| json.text(slug))?;
    list(&mut json, "also", &report.facts.also, |json, also| {
        json.open('{')?;
        text(json, "module", &also.module)?;
        number(json, "records", also.records)?;
        json.key("counters")?;
        json.open('{')?;
        for (name, value) in &also.counters {
            float(json, name, *value)?;
        }
        json.close('}')?;
        json.close('}')
    })?;
    facts(&mut json, &report.facts)?;
    json.line()?;
    json.key("thresholds")?;
    json.open('{')?;
    for (name, value) in limit.all() {
        float(&mut json, name, value)?;
    }
    json.close('}')?;
    json.close('}')?;
    json.finish()
}

fn job<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("job")?;
    json.open('{')?;
    text(json, "command", &facts.command)?;
    number(json, "processes", facts.nprocs)?;
    number(json, "ranks", facts.who.ranks)?;
    float(json, "run_time_seconds", facts.run_time)?;
    json.key("nodes")?;
    match facts.nodes {
        Some(nodes) => json.unsigned(nodes)?,
        None => json.null()?,
    }
    json.key("hints")?;
    json.open('{')?;
    for (name, value) in &facts.hints {
        text(json, name, value)?;
    }
    json.close('}')?;
    json.close('}')
}

fn io<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    let io = &facts.critical;
    json.line()?;
    json.key("io")?;
    json.open('{')?;
    rank(json, "rank", facts, io.rank)?;
    optional(json, "process", facts.who.other(io.rank).as_deref())?;
    float(json, "seconds", io.seconds)?;
    float(json, "share", facts.share(io.seconds))?;
    float(json, "seconds_at_most", io.at_most)?;
    float(json, "read_seconds", io.parts[0])?;
    float(json, "write_seconds", io.parts[1])?;
    float(json, "metadata_seconds", io.parts[2])?;
    float(json, "mean_seconds", io.mean)?;
    float(json, "waiting_seconds", io.waiting)?;
    truth(json, "overlaps", io.overlaps)?;
    list(json, "files", &io.by_file(), |json, (file, seconds)| {
        json.open('{')?;
        text(json, "id", &file.0.to_string())?;
        float(json, "seconds", *seconds)?;
        json.close('}')
    })?;
    json.close('}')
}

/// A rank, or nothing where the process is none.
fn rank<W: Write>(json: Out<'_, '_, W>, key: &str, facts: &Facts, whose: Rank) -> Result<()> {
    json.key(key)?;
    match facts.who.rank(whose) {
        Some(rank) => json.int(rank),
        None => json.null(),
    }
}

fn trust<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    let trust = &facts.trust;
    json.line()?;
    json.key("trust")?;
    json.open('{')?;
    truth(json, "complete", trust.is_complete())?;
    list(json, "caveats", &trust.caveats(), |json, says| json.text(says))?;
    list(json, "unknown", &trust.unknown, |json, says| json.text(says))?;
    list(json, "partial_modules", &trust.partial, |json, module| json.text(module.name()))?;
    list(json, "dropped", &trust.dropped, |json, (loss, events)| {
        json.open('{')?;
        text(json, "reason", loss.slug())?;
        number(json, "events", *events)?;
        json.close('}')
    })?;
    json.key("trace_coverage")?;
    match trust.coverage {
        Some(coverage) => json.float(coverage)?,
        None => json.null()?,
    }
    number(json, "summed_records", trust.summed)?;
    json.key("attendance")?;
    match &trust.attendance {
        None => json.null()?,
        Some(found) => attendance::json(json, found)?,
    }
    json.key("mapped")?;
    match &trust.mapped {
        Some(mapped) => {
            json.open('{')?;
            text(json, "says", &mapped.says())?;
            number(json, "files", mapped.files)?;
            number(json, "bytes", mapped.bytes)?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    json.key("set_aside")?;
    match &trust.aside {
        Some(aside) => {
            json.open('{')?;
            text(json, "says", &aside.says())?;
            number(json, "files", aside.files)?;
            number(json, "bytes_read", aside.bytes_read)?;
            number(json, "bytes_written", aside.bytes_written)?;
            float(json, "rank_seconds", aside.rank_seconds)?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    json.key("ledger")?;
    match &trust.ledger {
        Some(ledger) => {
            json.open('{')?;
            number(json, "calls", ledger.calls)?;
            number(json, "produced", ledger.produced)?;
            number(json, "delivered", ledger.delivered)?;
            list(json, "dropped", &ledger.dropped, |json, (loss, events)| {
                json.open('{')?;
                text(json, "reason", loss.slug())?;
                number(json, "events", *events)?;
                json.close('}')
            })?;
            truth(json, "balances", ledger.balances())?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    json.close('}')
}

fn functions<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    list(json, "functions", &facts.functions, |json, one| {
        json.open('{')?;
        text(json, "function", one.function.name())?;
        text(json, "layer", one.function.layer().name())?;
        number(json, "calls", one.calls)?;
        number(json, "traced", one.traced)?;
        number(json, "failed", one.failed)?;
        list(json, "errors", &one.errors, |json, (error, calls)| {
            json.open('{')?;
            number(json, "errno", u64::from(*error))?;
            number(json, "calls", *calls)?;
            json.close('}')
        })?;
        number(json, "bytes", one.bytes)?;
        float(json, "rank_seconds", one.seconds)?;
        float(json, "own_rank_seconds", one.own_seconds)?;
        float(json, "longest_seconds", one.longest)?;
        json.close('}')
    })
}

fn rates<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("rates")?;
    json.open('{')?;
    for direction in Direction::BOTH {
        let rate = facts.rates.of(direction);
        json.key(direction.verb())?;
        json.open('{')?;
        float(json, "large_bytes_per_second", rate.large)?;
        text(json, "basis", rate.basis.name())?;
        json.close('}')?;
    }
    json.close('}')
}

fn facts<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    rates(json, facts)?;
    functions(json, facts)?;
    json.line()?;
    list(json, "layers", facts.layers.iter(), |json, (layer, sum)| {
        json.open('{')?;
        text(json, "layer", layer.name())?;
        number(json, "files", sum.files)?;
        number(json, "reads", sum.reads)?;
        number(json, "writes", sum.writes)?;
        number(json, "bytes_read", sum.bytes_read)?;
        number(json, "bytes_written", sum.bytes_written)?;
        number(json, "opens", sum.opens)?;
        float(json, "read_rank_seconds", sum.rank_seconds[0])?;
        float(json, "write_rank_seconds", sum.rank_seconds[1])?;
        float(json, "metadata_rank_seconds", sum.rank_seconds[2])?;
        json.close('}')
    })?;
    json.line()?;
    list(json, "file_systems", &facts.systems, |json, system| {
        json.open('{')?;
        optional(json, "mount", system.mount.as_deref())?;
        optional(json, "type", system.kind.as_deref())?;
        number(json, "files", system.files)?;
        number(json, "bytes", system.bytes)?;
        float(json, "rank_seconds", system.rank_seconds)?;
        json.close('}')
    })?;
    json.line()?;
    list(json, "files", &facts.files, |json, one| file(json, one, facts))?;
    json.line()?;
    list(json, "ranks", facts.ranks.by_rank.iter(), |json, (whose, one)| {
        json.open('{')?;
        rank(json, "rank", facts, *whose)?;
        optional(json, "process", facts.who.other(*whose).as_deref())?;
        number(json, "reads", one.reads)?;
        number(json, "writes", one.writes)?;
        number(json, "bytes", one.bytes)?;
        float(json, "seconds", one.seconds)?;
        json.close('}')
    })?;
    json.line()?;
    list(json, "hosts", &facts.hosts, |json, node| {
        json.open('{')?;
        text(json, "name", &node.name)?;
        number(json, "ranks", node.ranks)?;
        number(json, "reads", node.reads)?;
        number(json, "writes", node.writes)?;
        number(json, "bytes", node.bytes)?;
        float(json, "rank_seconds", node.rank_seconds)?;
        json.key("slowest_rank")?;
        match node.slowest {
            Some((number, _)) if facts.who.is_rank(number) => json.int(number.0)?,
            _ => json.null()?,
        }
        float(json, "slowest_seconds", node.slowest.map_or(0.0, |slowest| slowest.1))?;
        json.close('}')
    })?;
    json.line()?;
    list(json, "osts", &facts.osts.by_ost, |json, ost| {
        json.open('{')?;
        number(json, "ost", ost.ost)?;
        optional(json, "server", ost.server.as_deref())?;
        number(json, "files", ost.files)?;
        number(json, "bytes", ost.bytes)?;
        number(json, "files_alone", ost.alone)?;
        float(json, "seconds_mean", ost.seconds_mean)?;
        float(json, "seconds_max", ost.seconds_max)?;
        json.close('}')
    })?;
    targets(json, facts)?;
    sizes(json, facts)?;
    phases(json, facts)?;
    alone(json, facts)
}

/// Servers, and how many targets work at a time.
fn targets<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    list(json, "servers", &facts.osts.servers, |json, server| {
        json.open('{')?;
        text(json, "server", &server.server)?;
        number(json, "osts", server.osts)?;
        number(json, "bytes", server.bytes)?;
        number(json, "files_alone", server.alone)?;
        float(json, "seconds_mean", server.seconds_mean)?;
        json.close('}')
    })?;
    json.key("ost_activity")?;
    let Some(active) = facts.ost_activity else { return json.null() };
    json.open('{')?;
    number(json, "stripe_count_max", active.stripes)?;
    number(json, "used", active.used)?;
    float(json, "active_median", active.median)?;
    number(json, "active_max", active.most)?;
    json.close('}')
}

/// The most common sizes of POSIX calls, and how they are known.
fn sizes<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("request_sizes")?;
    let Some(sizes) = &facts.sizes else { return json.null() };
    json.open('{')?;
    text(json, "basis", sizes.basis.name())?;
    for (key, list_of) in [("read", &sizes.read), ("write", &sizes.write)] {
        list(json, key, list_of, |json, (size, calls)| {
            json.open('{')?;
            number(json, "bytes", *size)?;
            number(json, "calls", *calls)?;
            json.close('}')
        })?;
    }
    json.close('}')
}

fn file<W: Write>(json: Out<'_, '_, W>, file: &FileFacts, facts: &Facts) -> Result<()> {
    json.line()?;
    json.open('{')?;
    text(json, "id", &file.id.0.to_string())?;
    text(json, "path", &file.path)?;
    optional(json, "file_system", file.file_system.as_deref())?;
    optional(json, "mount", file.mount.as_deref())?;
    let class = match file.sharing {
        Sharing::One(_) => "one",
        Sharing::Some(_) => "some",
        Sharing::All => "all",
    };
    text(json, "sharing", class)?;
    number(json, "processes", file.ranks(facts.nprocs))?;
    json.key("layout")?;
    match &file.layout {
        Some(layout) => {
            json.open('{')?;
            number(json, "stripe_size_bytes", layout.stripe_size)?;
            number(json, "stripe_count", layout.stripe_count)?;
            list(json, "osts", &layout.osts, |json, ost| json.unsigned(*ost))?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    list(json, "layers", file.layers.values(), |json, sum| {
        json.open('{')?;
        usage(json, sum)?;
        extreme(json, "slowest", file.slowest.get(&sum.layer), facts)?;
        extreme(json, "fastest", file.fastest.get(&sum.layer), facts)?;
        extreme(json, "heaviest", file.heaviest.get(&sum.layer), facts)?;
        json.close('}')
    })?;
    traced(json, file, facts)?;
    json.close('}')
}

fn usage<W: Write>(json: Out<'_, '_, W>, sum: &Usage) -> Result<()> {
    text(json, "layer", sum.layer.name())?;
    number(json, "opens", sum.opens)?;
    number(json, "seeks", sum.seeks)?;
    number(json, "stats", sum.stats)?;
    number(json, "syncs", sum.syncs)?;
    float(json, "metadata_rank_seconds", sum.meta)?;
    flow(json, "read", &sum.read)?;
    flow(json, "write", &sum.write)?;
    let common: Vec<(u64, u64)> = sum.common.iter().copied().filter(|one| one.1 > 0).collect();
    list(json, "common_sizes", &common, |json, (size, calls)| {
        json.open('{')?;
        number(json, "bytes", *size)?;
        number(json, "calls", *calls)?;
        json.close('}')
    })?;
    let strides: Vec<(u64, u64)> = sum.strides.iter().copied().filter(|one| one.1 > 0).collect();
    list(json, "common_strides", &strides, |json, (gap, calls)| {
        json.open('{')?;
        number(json, "gap_bytes", *gap)?;
        number(json, "calls", *calls)?;
        json.close('}')
    })?;
    number(json, "views", sum.views)?;
    number(json, "file_misaligned_calls", sum.file_misaligned)?;
    number(json, "memory_misaligned_calls", sum.memory_misaligned)
}

fn flow<W: Write>(json: Out<'_, '_, W>, name: &str, flow: &Flow) -> Result<()> {
    json.key(name)?;
    json.open('{')?;
    number(json, "calls", flow.calls)?;
    number(json, "bytes", flow.bytes)?;
    float(json, "rank_seconds", flow.seconds)?;
    number(json, "consecutive", flow.consecutive)?;
    number(json, "sequential", flow.sequential)?;
    number(json, "collective", flow.collective)?;
    number(json, "independent", flow.independent)?;
    number(json, "nonblocking", flow.nonblocking)?;
    float(json, "longest_seconds", flow.longest)?;
    json.key("size_bins")?;
    match flow.bins {
        Some(bins) => {
            json.open('[')?;
            bins.iter().try_for_each(|bin| json.unsigned(*bin))?;
            json.close(']')?;
        }
        None => json.null()?,
    }
    json.close('}')
}

fn extreme<W: Write>(
    json: Out<'_, '_, W>,
    name: &str,
    extreme: Option<&Extreme>,
    facts: &Facts,
) -> Result<()> {
    json.key(name)?;
    let Some(extreme) = extreme else { return json.null() };
    json.open('{')?;
    rank(json, "rank", facts, extreme.rank)?;
    optional(json, "process", facts.who.other(extreme.rank).as_deref())?;
    number(json, "bytes", extreme.bytes)?;
    float(json, "seconds", extreme.seconds)?;
    json.close('}')
}

/// What the trace says about a file, or null.
fn traced<W: Write>(json: Out<'_, '_, W>, file: &FileFacts, facts: &Facts) -> Result<()> {
    json.key("trace")?;
    let Some(traced) = facts.traced.as_ref().and_then(|traced| traced.file(file.id)) else {
        return json.null();
    };
    json.open('{')?;
    number(json, "bytes_read", traced.bytes[0])?;
    number(json, "bytes_written", traced.bytes[1])?;
    number(json, "different_bytes_read", traced.unique[0])?;
    number(json, "different_bytes_written", traced.unique[1])?;
    conflicts(json, Some(&traced.conflicts))?;
    contention(json, traced.contention.as_ref())?;
    steps(json, &traced.steps)?;
    json.key("mpiio")?;
    match &traced.mpiio {
        Some(above) => {
            json.open('{')?;
            conflicts(json, above.conflicts.as_ref())?;
            contention(json, above.contention.as_ref())?;
            steps(json, &above.steps)?;
            json.close('}')?;
        }
        None => json.null()?,
    }
    json.key("common_blocks")?;
    json.open('{')?;
    number(json, "blocks", traced.common.blocks)?;
    number(json, "calls", traced.common.calls)?;
    float(json, "rank_seconds", traced.common.rank_seconds)?;
    json.close('}')?;
    json.close('}')
}

/// The member `conflicts`, null where it is not known.
fn conflicts<W: Write>(json: Out<'_, '_, W>, found: Option<&Conflicts>) -> Result<()> {
    json.key("conflicts")?;
    let Some(found) = found else { return json.null() };
    json.open('{')?;
    hazard(json, "raw", &found.raw)?;
    hazard(json, "war", &found.war)?;
    hazard(json, "waw", &found.waw)?;
    truth(json, "flushes_known", found.semantics)?;
    truth(json, "cut", found.cut)?;
    json.close('}')
}

/// The member `stripe_contention`, null where it is not known.
fn contention<W: Write>(json: Out<'_, '_, W>, found: Option<&Contention>) -> Result<()> {
    json.key("stripe_contention")?;
    let Some(found) = found else { return json.null() };
    json.open('{')?;
    number(json, "stripe_bytes", found.stripe_size)?;
    number(json, "handovers", found.handovers())?;
    number(json, "contested", found.contested())?;
    truth(json, "cut", found.conflicts.cut)?;
    json.close('}')
}

/// The member `steps`: how ranks go through a file.
fn steps<W: Write>(json: Out<'_, '_, W>, ways: &[Steps; 2]) -> Result<()> {
    json.key("steps")?;
    json.open('{')?;
    for (direction, steps) in Direction::BOTH.iter().zip(ways) {
        json.key(direction.verb())?;
        json.open('{')?;
        number(json, "consecutive", steps.consecutive)?;
        number(json, "strided", steps.strided)?;
        number(json, "forward", steps.forward)?;
        number(json, "back", steps.back)?;
        number(json, "stride_bytes", steps.stride)?;
        json.close('}')?;
    }
    json.close('}')
}

fn hazard<W: Write>(json: Out<'_, '_, W>, name: &str, hazard: &Hazard) -> Result<()> {
    json.key(name)?;
    json.open('{')?;
    number(json, "calls", hazard.calls)?;
    number(json, "bytes", hazard.bytes)?;
    number(json, "racing_bytes", hazard.racing)?;
    number(json, "uncertain_bytes", hazard.uncertain)?;
    number(json, "unflushed_bytes", hazard.uncommitted)?;
    number(json, "unopened_bytes", hazard.unopened)?;
    json.close('}')
}

fn phases<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("phases")?;
    let Some(phases) = &facts.phases else { return json.null() };
    json.open('{')?;
    phase_list(json, "job", &phases.job, facts)?;
    for (layer, list) in &phases.layers {
        phase_list(json, layer.name(), list, facts)?;
    }
    json.close('}')
}

/// The member `alone`: the rank that was longest at work while all others had finished.
fn alone<W: Write>(json: Out<'_, '_, W>, facts: &Facts) -> Result<()> {
    json.line()?;
    json.key("alone")?;
    let longest = facts.phases.as_ref().and_then(|phases| phases.lone);
    let Some(longest) = longest else { return json.null() };
    json.open('{')?;
    number(json, "rank", u64::from(longest.alone.rank))?;
    float(json, "seconds", longest.alone.seconds)?;
    number(json, "stretches", longest.alone.stretches)?;
    number(json, "bytes", longest.alone.bytes)?;
    float(json, "start_seconds", longest.alone.window.0)?;
    float(json, "end_seconds", longest.alone.window.1)?;
    float(json, "others_seconds_median", longest.others)?;
    json.close('}')
}

fn phase_list<W: Write>(
    json: Out<'_, '_, W>,
    name: &str,
    phases: &PhaseList,
    facts: &Facts,
) -> Result<()> {
    json.key(name)?;
    json.open('{')?;
    float(json, "gap_seconds", phases.gap)?;
    json.key("period_seconds")?;
    match phases.period {
        Some(period) => json.float(period)?,
        None => json.null()?,
    }
    list(json, "phases", &phases.phases, |json, phase| {
        json.open('{')?;
        float(json, "start_seconds", phase.start)?;
        float(json, "end_seconds", phase.end)?;
        number(json, "calls", phase.calls)?;
        number(json, "bytes_read", phase.bytes_read)?;
        number(json, "bytes_written", phase.bytes_written)?;
        number(json, "ranks", phase.ranks)?;
        float(json, "busy_rank_seconds", phase.busy)?;
        float(json, "concurrency", phase.concurrency())?;
        rank(json, "fastest_rank", facts, phase.fastest.0)?;
        float(json, "fastest_seconds", phase.fastest.1)?;
        rank(json, "slowest_rank", facts, phase.slowest.0)?;
        float(json, "slowest_seconds", phase.slowest.1)?;
        json.close('}')
    })?;
    json.close('}')
}
