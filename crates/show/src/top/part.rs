//! The parts of the picture.

use netra_event::{Bytes, Nanos};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Sparkline, Table, Wrap};

use crate::live::{Job, Process, Way};

const READ: Color = Color::Blue;
const WRITE: Color = Color::Yellow;

fn block(title: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).title(title)
}

fn heads(names: &[&'static str]) -> Row<'static> {
    let cells: Vec<Cell<'_>> = names.iter().map(|name| Cell::from(*name)).collect();
    Row::new(cells).style(Style::new().add_modifier(Modifier::DIM))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command without the folders of its program, which say least.
fn called(command: &[u8]) -> String {
    let command = text(command);
    let program = command.split(' ').next().unwrap_or_default();
    let folders = program.rfind('/').map_or(0, |at| at + 1);
    command[folders..].to_owned()
}

/// The list of jobs.
pub(super) fn jobs(frame: &mut Frame<'_>, area: Rect, jobs: &[&Job], chosen: usize, now: u64) {
    if jobs.is_empty() {
        return frame
            .render_widget(Paragraph::new("no job has been seen yet").block(block("jobs")), area);
    }
    // The chosen one stays in sight.
    let first = chosen.saturating_sub(7);
    let rows = jobs.iter().enumerate().skip(first).take(8).map(|(at, job)| {
        let lately = job.rates(now);
        let running = job.end().is_none();
        let rate = |bytes: f64| {
            if running { format!("{}/s", Bytes(bytes as u64)) } else { "–".to_owned() }
        };
        let command = job.first().map(|one| called(&one.about.command)).unwrap_or_default();
        let seconds = Nanos(job.end().unwrap_or(now).saturating_sub(job.start()));
        let style = Style::new();
        Row::new([
            command,
            if running { "running" } else { "ended" }.to_owned(),
            job.ranks().to_string(),
            seconds.to_string(),
            rate(lately.read),
            rate(lately.written),
            if running { format!("{:.0}/s", lately.calls) } else { "–".to_owned() },
            format!("{:.0} %", 100.0 * job.share(now)),
            job.diagnosis.standing().count().to_string(),
        ])
        .style(if at == chosen { style.add_modifier(Modifier::REVERSED) } else { style })
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(8),
        Constraint::Length(6),
        Constraint::Length(9),
        Constraint::Length(12),
        Constraint::Length(12),
        Constraint::Length(10),
        Constraint::Length(8),
        Constraint::Length(8),
    ];
    let names =
        ["job", "state", "ranks", "time", "reading", "writing", "calls", "in calls", "findings"];
    let table = Table::new(rows, widths).header(heads(&names)).block(block("jobs"));
    frame.render_widget(table, area);
}

/// What the chosen job moves, second by second, the newest to the right.
pub(super) fn flow(frame: &mut Frame<'_>, area: Rect, job: &Job, now: u64) {
    let wide = u64::from(area.width.saturating_sub(1));
    let width = job.series.width();
    let last = job.end().unwrap_or(now) / 1_000_000_000;
    let values = |way: Way| -> Vec<u64> {
        let at = |back: u64| last.saturating_sub(back * width);
        let step =
            |back: u64| job.series.get(at(back)).map_or(0, |one| one.cells.lowest(way).bytes);
        (0..wide).rev().map(step).collect()
    };
    let [read, write] = job.moved();
    for (number, (way, sum, colour)) in
        [(Way::Read, read, READ), (Way::Write, write, WRITE)].into_iter().enumerate()
    {
        let data = values(way);
        let peak = data.iter().copied().max().unwrap_or(0) / width.max(1);
        let title = format!(
            "{}: {} in {} calls, at most {}/s",
            way.name(),
            Bytes(sum.bytes),
            sum.calls,
            Bytes(peak)
        );
        let top = area.y + number as u16 * (area.height / 2);
        let place = Rect { y: top, height: area.height / 2, ..area };
        let line = Sparkline::default().data(&data).style(Style::new().fg(colour));
        frame.render_widget(line.block(block(&title)), place.intersection(frame.area()));
    }
}

fn nanos(process: &Process) -> u64 {
    Way::ALL.iter().map(|&way| process.cells.lowest(way).nanos).fold(0, u64::saturating_add)
}

/// The ranks with most time in calls.
pub(super) fn ranks(frame: &mut Frame<'_>, area: Rect, job: &Job) {
    let mut members = job.members();
    members.sort_by_key(|process| std::cmp::Reverse(nanos(process)));
    let rows = members.iter().map(|process| {
        let name = match process.about.rank {
            Some(rank) => format!("rank {rank}"),
            None => format!("pid {}", process.about.pid),
        };
        let bytes = |way: Way| Bytes(process.cells.lowest(way).bytes).to_string();
        Row::new([
            name,
            text(&process.about.host),
            Nanos(nanos(process)).to_string(),
            bytes(Way::Read),
            bytes(Way::Write),
            Nanos(process.longest).to_string(),
        ])
    });
    let widths = [
        Constraint::Length(10),
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(9),
    ];
    let names = ["rank", "node", "in calls", "read", "written", "longest"];
    let table = Table::new(rows, widths).header(heads(&names)).block(block("ranks by time"));
    frame.render_widget(table, area);
}

/// The files with most time in calls.
pub(super) fn files(frame: &mut Frame<'_>, area: Rect, job: &Job) {
    let rows = job.files.top(usize::from(area.height)).into_iter().map(|file| {
        let bytes = |way: Way| Bytes(file.of(way).bytes).to_string();
        Row::new([
            ending(&file.path, usize::from(area.width).saturating_sub(34)),
            Nanos(file.nanos()).to_string(),
            bytes(Way::Read),
            bytes(Way::Write),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Length(10),
        Constraint::Length(10),
    ];
    let names = ["file", "time", "read", "written"];
    let table = Table::new(rows, widths).header(heads(&names)).block(block("files by time"));
    frame.render_widget(table, area);
}

/// The end of a path is what tells files apart.
fn ending(path: &str, wide: usize) -> String {
    let count = path.chars().count();
    if count <= wide.max(8) {
        return path.to_owned();
    }
    let kept: String = path.chars().skip(count - wide.max(8) + 1).collect();
    format!("…{kept}")
}

/// What the rules say so far.
pub(super) fn findings(frame: &mut Frame<'_>, area: Rect, job: &Job) {
    let found = &job.diagnosis;
    let mut lines = Vec::new();
    for one in found.standing() {
        let colour = match one.level {
            "HIGH" => Color::Red,
            "WARN" => Color::Yellow,
            _ => Color::Gray,
        };
        let title = Style::new().fg(colour).add_modifier(Modifier::BOLD);
        lines.push(Line::from(Span::styled(one.title.clone(), title)));
        lines.push(Line::from(one.says.clone()));
    }
    for one in &found.relations {
        let (name, value) = (&one.name, one.found.value);
        lines.push(Line::from(format!(
            "calls take longer when {name} {} is high (correlation {value:.2})",
            one.target
        )));
    }
    if lines.is_empty() {
        let says = match (found.number, &found.failed) {
            (_, Some(reason)) => format!("the rules could not be asked: {reason}"),
            (0, None) => "the rules have not been asked yet".to_owned(),
            _ => "no rule finds anything so far".to_owned(),
        };
        lines.push(Line::from(says));
    }
    let text = Paragraph::new(lines).wrap(Wrap { trim: true });
    frame.render_widget(text.block(block("findings so far")), area);
}
