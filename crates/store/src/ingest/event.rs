//! Events that wait for their commit: straight from slots into rows, and from rows into columns, sorted. This is the way that
//! millions of events a second take: nothing is allocated for a row, and texts are numbers until the file is written.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, DictionaryArray, Int16Array, Int64Array, PrimitiveArray, StringArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{Field, Int32Type, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use netra_event::Function;
use netra_stream::batch::Events;

use super::errno;
use super::text::Texts;
use super::who::{FileRow, NONE, Selected, Who};
use crate::meaning::{self, Meaning};
use crate::schema::Table;
use crate::{Error, Result};

/// An event; texts and files by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Nanoseconds since 1970.
    pub(super) t: i64,
    pub(super) duration: i64,
    offset: i64,
    length: i64,
    pub(super) bytes: i64,
    result: i64,
    argument: i64,
    sequence: i64,
    pub(super) file: u32,
    site: u32,
    lane: u32,
    thread: u32,
    parent: u32,
    number: u32,
    selected: u32,
    pub(super) error: u32,
    pub(super) code: u16,
}

/// Stands for what a row does not have.
const ABSENT: i64 = i64::MIN;

/// Names of functions, as texts by number: layer, operation, function.
#[derive(Debug, Default)]
pub(super) struct Codes {
    known: Vec<Option<[u32; 3]>>,
}

impl Codes {
    #[inline]
    pub(super) fn get(&mut self, code: u16, texts: &mut Texts) -> [u32; 3] {
        if let Some(Some(known)) = self.known.get(code as usize) {
            return *known;
        }
        let (layer, op, function) = meaning::names(code);
        let numbers = [texts.number(layer), texts.number(op), texts.number(&function)];
        self.known.resize(self.known.len().max(code as usize + 1), None);
        self.known[code as usize] = Some(numbers);
        numbers
    }
}

/// Rows of one process.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    pub(super) selections: Vec<Selected>,
    /// How many of the rows were shown to queries already.
    pub(super) shown: usize,
}

/// Makes rows of the events of a frame; `each` sees every row.
pub(super) fn take(
    who: &mut Who,
    lane: u32,
    made: u64,
    events: Events<'_>,
    texts: &mut Texts,
    selections: &mut Vec<Selected>,
    mut each: impl FnMut(Row, &mut Who, &mut Texts),
) {
    let mut thread = who.thread(lane);
    for (index, event) in events {
        let function = event.function();
        if event.code == Function::Thread.code() {
            thread = u32::try_from(event.offset).unwrap_or(thread);
            who.set_thread(lane, thread);
        }
        let kind = function.map(Function::kind);
        let means = Meaning::of(&event, kind);
        // Without the process's clock there is only the moment at which the frame was made.
        let (t, duration) = match who.time(event.start) {
            Some(t) => {
                let end = who.time(event.start.saturating_add(event.duration)).unwrap_or(t);
                (t, end.saturating_sub(t).max(0))
            }
            None => (made.cast_signed(), event.duration.cast_signed().max(0)),
        };
        let error = match event.failed {
            false => NONE,
            true => texts.number(&errno::name_of(event.code, event.result)),
        };
        let selected = match event.extension {
            0 => NONE,
            extension => match who.selected(extension, texts) {
                Some(selected) => {
                    selections.push(selected);
                    (selections.len() - 1) as u32
                }
                None => NONE,
            },
        };
        let site = who.site(event.site, texts);
        let row = Row {
            t,
            duration,
            offset: means.offset.unwrap_or(ABSENT),
            length: means.length,
            bytes: means.bytes,
            result: means.result.unwrap_or(ABSENT),
            argument: means.argument.unwrap_or(ABSENT),
            sequence: index.cast_signed(),
            file: event.file,
            site,
            lane,
            thread,
            parent: event.parent,
            number: event.number,
            selected,
            error,
            code: event.code,
        };
        each(row, who, texts);
    }
}

/// A row with its process.
pub(super) type Placed<'a> = (&'a Row, usize);

/// Rows that go into all columns before the next ones do: they stay in the processor's cache meanwhile.
const BLOCK: usize = 1024;

/// A row with all that its columns tell.
struct Full<'a> {
    row: &'a Row,
    who: &'a Who,
    file: FileRow,
    /// Layer, operation, function.
    names: [u32; 3],
    selected: Option<&'a Selected>,
}

/// A column that grows by blocks of rows.
trait Growing {
    fn grow(&mut self, rows: &[Full<'_>]);
    /// The column; texts by number are these.
    fn end(self: Box<Self>, texts: &Arc<StringArray>) -> Result<ArrayRef>;
}

/// Numbers.
struct Numbers<F> {
    of: F,
    values: Vec<i64>,
    /// Whether some may be absent.
    is_nullable: bool,
}

impl<F: Fn(&Full<'_>) -> i64> Growing for Numbers<F> {
    fn grow(&mut self, rows: &[Full<'_>]) {
        self.values.extend(rows.iter().map(&self.of));
    }

    fn end(mut self: Box<Self>, _: &Arc<StringArray>) -> Result<ArrayRef> {
        let there = || nulls(self.values.iter().map(|&value| value != ABSENT));
        let nulls = self.is_nullable.then(there).flatten();
        if nulls.is_some() {
            // What is null is written nowhere, and compresses best as nothing.
            let absent = self.values.iter_mut().filter(|value| **value == ABSENT);
            absent.for_each(|value| *value = 0);
        }
        Ok(Arc::new(Int64Array::new(ScalarBuffer::from(self.values), nulls)))
    }
}

/// Texts by number.
struct Named<F>(F, Vec<i32>);

impl<F: Fn(&Full<'_>) -> u32> Growing for Named<F> {
    fn grow(&mut self, rows: &[Full<'_>]) {
        self.1.extend(rows.iter().map(|row| (self.0)(row).cast_signed()));
    }

    fn end(self: Box<Self>, texts: &Arc<StringArray>) -> Result<ArrayRef> {
        let mut keys = self.1;
        // NONE is −1 as a key.
        let nulls = nulls(keys.iter().map(|&key| key >= 0));
        if nulls.is_some() {
            keys.iter_mut().for_each(|key| *key = (*key).max(0));
        }
        let keys = PrimitiveArray::<Int32Type>::new(ScalarBuffer::from(keys), nulls);
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(texts) as ArrayRef)?))
    }
}

/// Moments, in microseconds.
struct Times(Vec<i64>);

impl Growing for Times {
    fn grow(&mut self, rows: &[Full<'_>]) {
        self.0.extend(rows.iter().map(|of| of.row.t.div_euclid(1000)));
    }

    fn end(self: Box<Self>, _: &Arc<StringArray>) -> Result<ArrayRef> {
        Ok(Arc::new(TimestampMicrosecondArray::from(self.0).with_timezone("UTC")))
    }
}

/// The nanoseconds that the moments lack.
struct Rests(Vec<i16>);

impl Growing for Rests {
    fn grow(&mut self, rows: &[Full<'_>]) {
        self.0.extend(rows.iter().map(|of| of.row.t.rem_euclid(1000) as i16));
    }

    fn end(self: Box<Self>, _: &Arc<StringArray>) -> Result<ArrayRef> {
        Ok(Arc::new(Int16Array::from(self.0)))
    }
}

/// Which are there; nothing if all are.
fn nulls(there: impl Iterator<Item = bool>) -> Option<NullBuffer> {
    let nulls = NullBuffer::from_iter(there);
    (nulls.null_count() > 0).then_some(nulls)
}

/// A column of numbers; its function is part of its type, so that its loop calls nothing.
fn numbers(rows: usize, of: impl Fn(&Full<'_>) -> i64 + 'static) -> Box<dyn Growing> {
    Box::new(Numbers { of, values: Vec::with_capacity(rows), is_nullable: false })
}

/// The same, where some may be absent.
fn maybe(rows: usize, of: impl Fn(&Full<'_>) -> i64 + 'static) -> Box<dyn Growing> {
    Box::new(Numbers { of, values: Vec::with_capacity(rows), is_nullable: true })
}

/// The same of texts.
fn named(rows: usize, of: impl Fn(&Full<'_>) -> u32 + 'static) -> Box<dyn Growing> {
    Box::new(Named(of, Vec::with_capacity(rows)))
}

/// A number that is absent if it is 0.
fn positive(number: u32) -> i64 {
    if number == 0 { ABSENT } else { i64::from(number) }
}

/// The columns of so many rows, by name.
fn columns(n: usize, source: u32) -> Vec<(&'static str, Box<dyn Growing>)> {
    vec![
        ("t", Box::new(Times(Vec::with_capacity(n)))),
        ("t_ns", Box::new(Rests(Vec::with_capacity(n)))),
        ("job", named(n, |of| of.who.job)),
        ("user", named(n, |of| of.who.user)),
        ("exe", named(n, |of| of.who.exe)),
        ("node", named(n, |of| of.who.node)),
        ("site", named(n, |of| of.row.site)),
        ("error", named(n, |of| of.row.error)),
        ("source", named(n, move |_| source)),
        ("data_set", named(n, |of| of.selected.map_or(of.file.object, |set| set.data_set))),
        ("selection", named(n, |of| of.selected.map_or(NONE, |set| set.shape))),
        ("layer", named(n, |of| of.names[0])),
        ("op", named(n, |of| of.names[1])),
        ("function", named(n, |of| of.names[2])),
        ("file", named(n, |of| of.file.name)),
        ("file_system", named(n, |of| of.file.file_system)),
        ("mount", named(n, |of| of.file.mount)),
        ("file_id", maybe(n, |of| if of.file.name == NONE { ABSENT } else { of.file.id })),
        ("rank", numbers(n, |of| of.who.rank)),
        ("uid", numbers(n, |of| of.who.uid)),
        ("pid", numbers(n, |of| of.who.pid)),
        ("process", numbers(n, |of| of.who.process)),
        ("duration", numbers(n, |of| of.row.duration)),
        ("offset", maybe(n, |of| of.row.offset)),
        ("length", numbers(n, |of| of.row.length)),
        ("bytes", numbers(n, |of| of.row.bytes)),
        ("result", maybe(n, |of| of.row.result)),
        ("argument", maybe(n, |of| of.row.argument)),
        ("lane", numbers(n, |of| i64::from(of.row.lane))),
        ("sequence", numbers(n, |of| of.row.sequence)),
        ("thread", maybe(n, |of| positive(of.row.thread))),
        ("parent", maybe(n, |of| positive(of.row.parent))),
        ("number", maybe(n, |of| positive(of.row.number))),
        ("dimensions", maybe(n, |of| of.selected.map_or(ABSENT, |set| set.dimensions))),
        ("points", maybe(n, |of| of.selected.map_or(ABSENT, |set| set.points))),
    ]
}

/// What the rows' columns are made from.
pub(super) struct Making<'a> {
    pub(super) table: &'static Table,
    pub(super) who: &'a mut [Who],
    pub(super) selections: &'a [&'a [Selected]],
    pub(super) texts: &'a mut Texts,
    pub(super) codes: &'a mut Codes,
}

impl Making<'_> {
    /// The columns of rows, in the order in which they are given.
    pub(super) fn batch(&mut self, rows: &[Placed<'_>]) -> Result<RecordBatch> {
        let source = self.texts.number("stream");
        let mut columns = columns(rows.len(), source);
        let mut files: Vec<FileRow> = Vec::with_capacity(BLOCK);
        let mut names: Vec<[u32; 3]> = Vec::with_capacity(BLOCK);
        for rows in rows.chunks(BLOCK) {
            files.clear();
            files.extend(rows.iter().map(|&(row, of)| self.who[of].file(row.file, self.texts)));
            names.clear();
            names.extend(rows.iter().map(|(row, _)| self.codes.get(row.code, self.texts)));
            let who = &*self.who;
            let full = rows.iter().zip(&files).zip(&names).map(|((&(row, of), &file), &names)| {
                let selected = match row.selected {
                    NONE => None,
                    selected => self.selections[of].get(selected as usize),
                };
                Full { row, who: &who[of], file, names, selected }
            });
            let full: Vec<Full<'_>> = full.collect();
            columns.iter_mut().for_each(|(_, column)| column.grow(&full));
        }
        // Everything that may become a text is one by now.
        let texts = self.texts.array();
        let arrays: Result<Vec<(&str, ArrayRef)>> =
            columns.into_iter().map(|(name, column)| Ok((name, column.end(&texts)?))).collect();
        assemble(self.table, arrays?)
    }
}

/// Puts columns into the order of their table.
fn assemble(table: &'static Table, mut arrays: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for column in &table.columns {
        let found = arrays.iter().position(|(name, _)| *name == column.name);
        let missing =
            || Error::Rows { table: table.name, why: format!("{} is missing", column.name) };
        let (_, array) = arrays.swap_remove(found.ok_or_else(missing)?);
        fields.push(Field::new(&column.name, array.data_type().clone(), column.nullable));
        columns.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// Rows of all processes, sorted by job, rank and time.
pub(super) fn in_order<'a>(
    who: &[Who],
    texts: &Texts,
    all: &'a [Rows],
    skip_shown: bool,
) -> Vec<Placed<'a>> {
    let mut order: Vec<usize> = (0..all.len()).filter(|&at| !all[at].rows.is_empty()).collect();
    order.sort_by(|&a, &b| {
        let key = |at: usize| (texts.get(who[at].job), who[at].rank);
        key(a).cmp(&key(b))
    });
    let mut placed = Vec::with_capacity(all.iter().map(|rows| rows.rows.len()).sum());
    let mut from = 0;
    for (place, &at) in order.iter().enumerate() {
        let rows = &all[at];
        let skip = if skip_shown { rows.shown } else { 0 };
        placed.extend(rows.rows.iter().skip(skip).map(|row| (row, at)));
        let same = order
            .get(place + 1)
            .is_some_and(|&next| (who[next].job, who[next].rank) == (who[at].job, who[at].rank));
        if !same {
            // Lanes end calls in order: this is nearly sorted, and the stable sort makes use of that.
            placed[from..].sort_by_key(|(row, _)| row.t);
            from = placed.len();
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::columns;
    use crate::schema;

    #[test]
    fn every_column_of_events_is_filled() {
        let mut filled: Vec<&str> = columns(0, 0).into_iter().map(|(name, _)| name).collect();
        let table = schema::table("events").expect("the table");
        let mut known: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        filled.sort_unstable();
        known.sort_unstable();
        assert_eq!(filled, known, "columns() and the schema differ (docs/adding-a-column.md)");
    }
}
