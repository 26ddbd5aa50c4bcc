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
use super::who::{NONE, Selected, Who};
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

/// Columns of rows: numbers that may be absent, and texts by number.
struct Columns<'a> {
    rows: &'a [Placed<'a>],
    texts: Arc<StringArray>,
}

impl Columns<'_> {
    fn long(&self, of: impl Fn(Placed<'_>) -> i64) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(self.rows.iter().map(|&row| of(row))))
    }

    fn maybe(&self, of: impl Fn(Placed<'_>) -> i64) -> ArrayRef {
        let values: Vec<i64> = self.rows.iter().map(|&row| of(row)).collect();
        let nulls = nulls(values.iter().map(|&value| value != ABSENT));
        let values = match nulls {
            // What is null is written nowhere, and compresses best as nothing.
            Some(_) => values.into_iter().map(|v| if v == ABSENT { 0 } else { v }).collect(),
            None => values,
        };
        Arc::new(Int64Array::new(ScalarBuffer::from(values), nulls))
    }

    fn text(&self, of: impl Fn(Placed<'_>) -> u32) -> Result<ArrayRef> {
        let keys: Vec<i32> = self.rows.iter().map(|&row| of(row).cast_signed()).collect();
        // NONE is −1 as a key.
        let nulls = nulls(keys.iter().map(|&key| key >= 0));
        let keys = match nulls {
            Some(_) => keys.into_iter().map(|key| key.max(0)).collect(),
            None => keys,
        };
        let keys = PrimitiveArray::<Int32Type>::new(ScalarBuffer::from(keys), nulls);
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(&self.texts) as ArrayRef)?))
    }
}

/// Which are there; nothing if all are.
fn nulls(there: impl Iterator<Item = bool>) -> Option<NullBuffer> {
    let nulls = NullBuffer::from_iter(there);
    (nulls.null_count() > 0).then_some(nulls)
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
        // Everything that may become a text is one before the texts become an array.
        let files: Vec<_> =
            rows.iter().map(|&(row, of)| self.who[of].file(row.file, self.texts)).collect();
        let codes: Vec<[u32; 3]> =
            rows.iter().map(|(row, _)| self.codes.get(row.code, self.texts)).collect();
        let source = self.texts.number("stream");
        let columns = Columns { rows, texts: self.texts.array() };
        let at = |list: &mut dyn Iterator<Item = u32>| -> Result<ArrayRef> {
            let keys: Vec<i32> = list.map(u32::cast_signed).collect();
            let nulls = nulls(keys.iter().map(|&key| key >= 0));
            let keys = keys.into_iter().map(|key| key.max(0)).collect::<Vec<i32>>();
            let keys = PrimitiveArray::<Int32Type>::new(ScalarBuffer::from(keys), nulls);
            Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(&columns.texts) as ArrayRef)?))
        };
        let selected = |row: Placed<'_>| -> Option<&Selected> {
            (row.0.selected != NONE)
                .then(|| self.selections[row.1].get(row.0.selected as usize))
                .flatten()
        };
        let who = &*self.who;
        let times = rows.iter().map(|(row, _)| row.t.div_euclid(1000));
        let times = TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC");
        let rest = rows.iter().map(|(row, _)| row.t.rem_euclid(1000) as i16);
        let ids = rows.iter().zip(&files).map(|(_, file)| (file.name != NONE).then_some(file.id));
        let mut arrays: Vec<(&str, ArrayRef)> = vec![
            ("t", Arc::new(times)),
            ("t_ns", Arc::new(Int16Array::from_iter_values(rest))),
            ("file_id", Arc::new(Int64Array::from_iter(ids))),
        ];
        arrays.extend([
            ("job", columns.text(|row| who[row.1].job)?),
            ("user", columns.text(|row| who[row.1].user)?),
            ("exe", columns.text(|row| who[row.1].exe)?),
            ("node", columns.text(|row| who[row.1].node)?),
            ("site", columns.text(|row| row.0.site)?),
            ("error", columns.text(|row| row.0.error)?),
            ("source", columns.text(|_| source)?),
            (
                "data_set",
                at(&mut rows.iter().zip(&files).map(|(&row, file)| {
                    selected(row).map_or(file.object, |selected| selected.data_set)
                }))?,
            ),
            (
                "selection",
                columns.text(|row| selected(row).map_or(NONE, |selected| selected.shape))?,
            ),
            ("layer", at(&mut codes.iter().map(|code| code[0]))?),
            ("op", at(&mut codes.iter().map(|code| code[1]))?),
            ("function", at(&mut codes.iter().map(|code| code[2]))?),
            ("file", at(&mut files.iter().map(|file| file.name))?),
            ("file_system", at(&mut files.iter().map(|file| file.file_system))?),
            ("mount", at(&mut files.iter().map(|file| file.mount))?),
        ]);
        let positive = |number: u32| if number == 0 { ABSENT } else { i64::from(number) };
        arrays.extend([
            ("rank", columns.long(|row| who[row.1].rank)),
            ("uid", columns.long(|row| who[row.1].uid)),
            ("pid", columns.long(|row| who[row.1].pid)),
            ("process", columns.long(|row| who[row.1].process)),
            ("duration", columns.long(|row| row.0.duration)),
            ("offset", columns.maybe(|row| row.0.offset)),
            ("length", columns.long(|row| row.0.length)),
            ("bytes", columns.long(|row| row.0.bytes)),
            ("result", columns.maybe(|row| row.0.result)),
            ("argument", columns.maybe(|row| row.0.argument)),
            ("lane", columns.long(|row| i64::from(row.0.lane))),
            ("sequence", columns.long(|row| row.0.sequence)),
            ("thread", columns.maybe(|row| positive(row.0.thread))),
            ("parent", columns.maybe(|row| positive(row.0.parent))),
            ("number", columns.maybe(|row| positive(row.0.number))),
            (
                "dimensions",
                columns.maybe(|row| selected(row).map_or(ABSENT, |selected| selected.dimensions)),
            ),
            (
                "points",
                columns.maybe(|row| selected(row).map_or(ABSENT, |selected| selected.points)),
            ),
        ]);
        assemble(self.table, arrays)
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
