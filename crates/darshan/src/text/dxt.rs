//! Traces as `darshan-dxt-parser` prints them: a line a segment.

use super::Zone;
use super::explain;
use super::header;
use super::number::{pad, push_padded, signed, unsigned};
use super::page::Page;
use super::row::{self, Row};
use crate::counter::lustre::{EXT_END, EXT_START, STRIPE_COUNT, STRIPE_SIZE};
use crate::damage::Damage;
use crate::missing::Missing;
use crate::read::{Direction, DxtHead, Log, Names, Record, Records};
use crate::record::dxt::Segment;
use crate::record::lustre::Component;
use netra_event::{Module, RecordId};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Segments of a record that are kept while their threads are counted: 24 MiB. Longer records are
/// read twice.
const KEPT: u64 = 1 << 19;

/// Prints the traces of a log. What is missing from the log comes back.
///
/// # Errors
/// If the output can not be written.
pub fn traces(log: &Log, zone: Zone<'_>, out: &mut dyn Write) -> io::Result<Vec<Damage>> {
    let mut page = Page::new(out);
    let mut missing = Missing::of(log);
    header::lines(log, zone, &mut page)?;
    let mut any = false;
    for module in [Module::DxtPosix, Module::DxtMpiio] {
        let region = log.header().region(module);
        if region.extent.length == 0 && !region.partial {
            continue;
        }
        any = true;
        const STARS: &str = "# ***************************************************";
        page.line(format_args!("\n{STARS}\n# {module} module data\n{STARS}"))?;
        if region.partial {
            explain::incomplete(module, &mut page)?;
        }
        missing.read_module(module, Traces::new(log, module).print(&mut page)?);
    }
    if !any {
        page.text("\n# no DXT module data available for this Darshan log.\n")?;
    }
    page.finish()?;
    Ok(missing.all())
}

/// Prints the traces of one module.
struct Traces<'a> {
    log: &'a Log,
    module: Module,
    layouts: HashMap<RecordId, Layout>,
    records: Records,
    /// Reads long records ahead, to count their threads; behind `records` by as many as it lags.
    scout: Option<Records>,
    lag: usize,
    kept: Vec<(Direction, Segment)>,
}

/// A Lustre layout, kept for the whole trace.
struct Layout {
    components: Vec<Component>,
    targets: Vec<i64>,
}

impl<'a> Traces<'a> {
    fn new(log: &'a Log, module: Module) -> Traces<'a> {
        let layouts = if module == Module::DxtPosix { layouts(log) } else { HashMap::new() };
        let records = log.records(module);
        Traces { log, module, layouts, records, scout: None, lag: 0, kept: Vec::new() }
    }

    fn print(mut self, page: &mut Page<'_>) -> io::Result<Vec<Damage>> {
        while let Some(Record::Dxt(mut dxt)) = self.records.next_record() {
            self.lag += 1;
            let head = dxt.head.clone();
            let layout = self.layouts.get(&head.id);
            let threaded = dxt.segments.have_threads();
            let long = head.writes.saturating_add(head.reads) > KEPT;
            self.kept.clear();
            let threads = if !threaded {
                1
            } else if long {
                let scout = self.scout.get_or_insert_with(|| self.log.records(self.module));
                let skip = std::mem::take(&mut self.lag) - 1;
                for _ in 0..skip {
                    scout.next_record();
                }
                threads_ahead(scout)
            } else {
                let mut threads = HashSet::new();
                while let Some((direction, piece)) = dxt.segments.next_piece() {
                    threads.extend(piece.iter().map(|segment| segment.thread));
                    self.kept.extend(piece.iter().map(|&segment| (direction, segment)));
                }
                threads.len().max(1)
            };
            record_head(&head, threads, layout, self.log.names(), page)?;
            let mut line = Line::new(self.module, &head, layout, threaded);
            for &(direction, segment) in &self.kept {
                line.push(direction, &segment, &mut page.text);
                page.turn()?;
            }
            while let Some((direction, piece)) = dxt.segments.next_piece() {
                for segment in piece {
                    line.push(direction, segment, &mut page.text);
                }
                page.turn()?;
            }
        }
        Ok(self.records.damage().to_vec())
    }
}

/// The number of threads of the next record.
fn threads_ahead(records: &mut Records) -> usize {
    let mut threads = HashSet::new();
    if let Some(Record::Dxt(mut dxt)) = records.next_record() {
        let mut last = None;
        while let Some((_, piece)) = dxt.segments.next_piece() {
            for segment in piece {
                // A thread seldom makes a single call.
                if last != Some(segment.thread) {
                    last = Some(segment.thread);
                    threads.insert(segment.thread);
                }
            }
        }
    }
    threads.len().max(1)
}

fn layouts(log: &Log) -> HashMap<RecordId, Layout> {
    let mut layouts = HashMap::new();
    let mut records = log.records(Module::Lustre);
    while let Some(record) = records.next_record() {
        if let Record::Lustre(lustre) = record {
            let components = lustre.components.to_vec();
            layouts.insert(lustre.id, Layout { components, targets: lustre.targets.to_vec() });
        }
    }
    layouts
}

fn record_head(
    head: &DxtHead,
    threads: usize,
    layout: Option<&Layout>,
    names: &Names,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let place = names.place(head.id);
    let id = head.id.to_string();
    let name = place.name.unwrap_or(b"(null)");
    page.join(&[b"\n# DXT, file_id: ", id.as_bytes(), b", file_name: ", name])?;
    let rank = head.rank.to_string();
    page.join(&[b"# DXT, rank: ", rank.as_bytes(), b", hostname: ", &head.host])?;
    page.line(format_args!("# DXT, number of threads: {threads}"))?;
    let (writes, reads) = (head.writes, head.reads);
    page.line(format_args!("# DXT, write_count: {writes}, read_count: {reads}"))?;
    page.join(&[b"# DXT, mnt_pt: ", place.mount, b", fs_type: ", place.kind])?;
    if let Some(layout) = layout {
        layout.lines(page)?;
    }
    page.text(
        "# Module    Rank  Wt/Rd  Segment          Offset          Length    Start(s)      End(s)",
    )?;
    page.text(if layout.is_some() { "   [OST]   Pthread-ID\n" } else { "   Pthread-ID\n" })
}

/// What all lines of a record have in common.
struct Line<'a> {
    /// Module and rank.
    begin: Vec<u8>,
    /// The same with the direction, and spaces for the numbers; nothing if the rank is too wide.
    row: Option<[u8; row::WIDTH]>,
    layout: Option<&'a Layout>,
    /// Whether the log knows threads.
    threaded: bool,
    direction: Direction,
    number: u64,
    /// The last thread, as it is printed: it is mostly the next one too.
    thread: Option<u64>,
    end: Vec<u8>,
}

impl<'a> Line<'a> {
    fn new(module: Module, head: &DxtHead, layout: Option<&'a Layout>, threaded: bool) -> Line<'a> {
        let mut begin = Vec::new();
        begin.extend_from_slice(match module {
            Module::DxtPosix => b" X_POSIX",
            _ => b" X_MPIIO",
        });
        pad(&mut begin, signed(head.rank.0).as_bytes(), 8);
        let direction = Direction::Write;
        let (row, number, thread, end) = (None, 0, None, Vec::new());
        let mut line = Line { begin, row, layout, threaded, direction, number, thread, end };
        line.turn(direction);
        line.set_thread(None);
        line
    }

    /// Numbering begins again with the reads.
    fn turn(&mut self, direction: Direction) {
        (self.direction, self.number) = (direction, 0);
        let mut row = [b' '; row::WIDTH];
        let word = word(direction);
        let start = self.begin.len();
        self.row = (start == 16).then(|| {
            row[..start].copy_from_slice(&self.begin);
            row[start..start + word.len()].copy_from_slice(word);
            row
        });
    }

    fn push(&mut self, direction: Direction, segment: &Segment, text: &mut Vec<u8>) {
        if direction != self.direction {
            self.turn(direction);
        }
        text.reserve(160);
        let bytes = (segment.offset, segment.length);
        let row = Row::new(self.number, bytes, (segment.start, segment.end));
        match (&self.row, row) {
            (Some(line), Some(row)) => {
                let mut line = *line;
                row.fill(&mut line);
                text.extend_from_slice(&line);
            }
            _ => self.push_columns(segment, text),
        }
        if let Some(layout) = self.layout {
            layout.targets_of(segment, text);
        }
        if segment.thread != self.thread {
            self.set_thread(segment.thread);
        }
        text.extend_from_slice(&self.end);
        self.number += 1;
    }

    /// Numbers of any size.
    fn push_columns(&self, segment: &Segment, text: &mut Vec<u8>) {
        text.extend_from_slice(&self.begin);
        text.extend_from_slice(word(self.direction));
        pad(text, unsigned(self.number).as_bytes(), 9);
        pad(text, signed(segment.offset).as_bytes(), 16);
        pad(text, signed(segment.length).as_bytes(), 16);
        push_padded(text, segment.start, 4, 12);
        push_padded(text, segment.end, 4, 12);
        text.extend_from_slice(b"  ");
    }

    fn set_thread(&mut self, thread: Option<u64>) {
        self.thread = thread;
        self.end.clear();
        if self.threaded {
            self.end.push(b' ');
            pad(&mut self.end, unsigned(thread.unwrap_or(0)).as_bytes(), 4);
        } else {
            self.end.extend_from_slice(b" N/A");
        }
        self.end.push(b'\n');
    }
}

fn word(direction: Direction) -> &'static [u8; 7] {
    match direction {
        Direction::Write => b"  write",
        Direction::Read => b"   read",
    }
}

impl Layout {
    fn lines(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.text("# DXT, Lustre stripe components:\n")?;
        let mut rest = &self.targets[..];
        for (number, component) in (1..).zip(&self.components) {
            let of = component.numbers;
            let end = of[EXT_END];
            let end = if end == -1 { "EOF".into() } else { end.to_string() };
            let (start, size, count) = (of[EXT_START], of[STRIPE_SIZE], of[STRIPE_COUNT]);
            write!(
                page.text,
                "#\t[Component {number}] stripe_ext: {start} - {end}, stripe_size: {size}, \
                 stripe_count: {count}, OSTs:"
            )?;
            let own;
            (own, rest) = rest.split_at(usize::try_from(count).unwrap_or(0).min(rest.len()));
            for target in own {
                write!(page.text, " {target}")?;
            }
            page.text("\n")?;
        }
        Ok(())
    }

    /// The storage targets that a segment touches. No more are shown than a component has: after
    /// that they repeat.
    fn targets_of(&self, segment: &Segment, text: &mut Vec<u8>) {
        let end = segment.offset.saturating_add(segment.length);
        let mut at = segment.offset;
        let mut first = 0;
        let mut shown = 0;
        for component in &self.components {
            let of = component.numbers;
            // What a record claims to have beyond its targets does not count.
            let left = self.targets.len().saturating_sub(first) as i64;
            let (size, count) = (of[STRIPE_SIZE], of[STRIPE_COUNT].min(left));
            let (from, to) = (of[EXT_START], of[EXT_END]);
            // Data on the metadata target has no stripes; other numbers would be nonsense.
            if size <= 0 || count <= 0 {
                continue;
            }
            let inside = |at: i64| to == -1 || at < to;
            if at >= from && inside(at) {
                let mut stripe = at.saturating_sub(from) / size;
                while at < end && inside(at) {
                    let target = self.targets.get(first + (stripe % count) as usize);
                    let target = target.copied().unwrap_or(-1);
                    text.extend_from_slice(b" [");
                    text.extend_from_slice(signed(target).as_bytes());
                    text.push(b']');
                    stripe = stripe.saturating_add(1);
                    at = from.saturating_add(stripe.saturating_mul(size));
                    shown += 1;
                    if shown >= count {
                        at = if to == -1 { end } else { to };
                        break;
                    }
                }
            }
            first += count as usize;
        }
        if !self.components.is_empty() {
            text.extend_from_slice(b"  ");
        }
    }
}
