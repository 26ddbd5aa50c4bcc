//! Whether a row was there before, by its name for ever. Names of a window are remembered, not those of a day.

use std::collections::HashSet;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, Scalar, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::cmp::eq;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::row::{RowConverter, SortField};

use crate::quick::Quick;
use crate::schema::Table;
use crate::{Error, Result};

/// The table whose rows are so many that a name may take no more than a bit.
const EVENTS: &str = "events";
/// The column that says where a row is from, in tables that importers fill as well, and what it says of rows that came in frames. An
/// importer knows by itself what is there, and numbers what has no name in its own way.
const SOURCE: (&str, &str) = ("source", "stream");
/// Tables that have such a column.
const IMPORTED: [&str; 2] = [EVENTS, "processes"];

/// The condition that a row came in a frame.
pub(super) fn sent(table: &Table) -> String {
    match IMPORTED.contains(&table.name) {
        true => format!("\"{}\" = '{}'", SOURCE.0, SOURCE.1),
        false => "true".to_owned(),
    }
}

/// The columns that [`Seen::look`] wants.
pub(super) fn wanted(table: &Table) -> Vec<&'static str> {
    let source = IMPORTED.contains(&table.name).then_some(SOURCE.0);
    table.once.iter().copied().chain(source).collect()
}

/// Names that were seen.
pub(in crate::maintain) struct Seen {
    table: &'static Table,
    names: Names,
}

enum Names {
    Lanes(Lanes),
    Rows(Option<RowConverter>, HashSet<Box<[u8]>>),
}

impl Seen {
    /// None yet; nothing for tables whose rows have no names.
    pub(in crate::maintain) fn of(table: &'static Table) -> Option<Seen> {
        let names = match table.name {
            EVENTS => Names::Lanes(Lanes::default()),
            _ => Names::Rows(None, HashSet::new()),
        };
        (!table.once.is_empty()).then_some(Seen { table, names })
    }

    /// Begins anew.
    pub(in crate::maintain) fn forget(&mut self) {
        match &mut self.names {
            Names::Lanes(lanes) => lanes.forget(),
            Names::Rows(_, names) => names.clear(),
        }
    }

    /// Remembers the names of rows; says which rows stay, unless all do.
    pub(in crate::maintain) fn look(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<Option<BooleanArray>> {
        let came = self.came(batch)?;
        let came = |row: usize| came.as_ref().is_none_or(|came| came.value(row));
        let mut again = Vec::new();
        match &mut self.names {
            Names::Lanes(lanes) => {
                let numbers = |name: &str| {
                    let column = batch.column_by_name(name);
                    column.and_then(|column| column.as_primitive_opt::<Int64Type>())
                };
                let [Some(process), Some(lane), Some(sequence)] =
                    ["process", "lane", "sequence"].map(numbers)
                else {
                    return Err(missing(self.table));
                };
                let (process, lane) = (process.values(), lane.values());
                for (row, &sequence) in sequence.values().iter().enumerate() {
                    if came(row) && !lanes.insert((process[row], lane[row]), sequence) {
                        again.push(row);
                    }
                }
            }
            Names::Rows(converter, names) => {
                let columns: Option<Vec<_>> = self
                    .table
                    .once
                    .iter()
                    .map(|name| batch.column_by_name(name).cloned())
                    .collect();
                let columns = columns.ok_or_else(|| missing(self.table))?;
                let converter = match converter {
                    Some(converter) => converter,
                    None => {
                        let field = |column: &ArrayRef| SortField::new(column.data_type().clone());
                        converter.insert(RowConverter::new(columns.iter().map(field).collect())?)
                    }
                };
                for (row, name) in converter.convert_columns(&columns)?.iter().enumerate() {
                    let has_name = || columns.iter().all(|column| column.is_valid(row));
                    if came(row) && has_name() && !names.insert(name.as_ref().into()) {
                        again.push(row);
                    }
                }
            }
        }
        if again.is_empty() {
            return Ok(None);
        }
        let mut stays = vec![true; batch.num_rows()];
        again.into_iter().for_each(|row| stays[row] = false);
        Ok(Some(stays.into()))
    }

    /// Which rows came in frames; nothing if all did.
    fn came(&self, batch: &RecordBatch) -> Result<Option<BooleanArray>> {
        if !IMPORTED.contains(&self.table.name) {
            return Ok(None);
        }
        let source = batch.column_by_name(SOURCE.0).ok_or_else(|| missing(self.table))?;
        let stream = cast(&StringArray::from(vec![SOURCE.1]), source.data_type())?;
        Ok(Some(eq(source, &Scalar::new(stream))?))
    }
}

fn missing(table: &'static Table) -> Error {
    Error::Rows { table: table.name, why: "a column that names them is missing".to_owned() }
}

/// Slots of a lane that one block of bits stands for.
const SLOTS: usize = 4096;
/// Blocks at most: 64 MiB. Lanes that are as they should be need a bit for a slot; numbers of somebody who wants to fill memory make
/// us forget what was seen, and then something stays twice.
const BLOCKS: usize = 1 << 17;

/// Events by their place in their lane, a bit each: calls follow each other there.
#[derive(Default)]
struct Lanes {
    places: Quick<(i64, i64, i64), usize>,
    blocks: Vec<[u64; SLOTS / 64]>,
    /// Most events lie in the block of the one before.
    last: Option<((i64, i64, i64), usize)>,
}

impl Lanes {
    fn forget(&mut self) {
        self.places.clear();
        self.blocks.clear();
        self.last = None;
    }

    /// Whether an event is new.
    #[inline]
    fn insert(&mut self, (process, lane): (i64, i64), sequence: i64) -> bool {
        let slots = SLOTS as i64;
        let key = (process, lane, sequence.div_euclid(slots));
        let place = match self.last {
            Some((same, place)) if same == key => place,
            _ => self.place(key),
        };
        let slot = sequence.rem_euclid(slots) as usize;
        let word = &mut self.blocks[place][slot / 64];
        let bit = 1 << (slot % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn place(&mut self, key: (i64, i64, i64)) -> usize {
        if self.blocks.len() >= BLOCKS {
            self.forget();
        }
        let next = self.blocks.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.blocks.push([0; SLOTS / 64]);
        }
        self.last = Some((key, place));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table;
    use datafusion::arrow::array::Int64Array;
    use std::sync::Arc;

    #[test]
    fn an_event_is_new_once() {
        let mut lanes = Lanes::default();
        let events = [(1, 0, 0), (1, 0, 4095), (1, 0, 4096), (1, 1, 0), (2, 0, 0), (2, 0, -1)];
        for (process, lane, sequence) in events {
            assert!(lanes.insert((process, lane), sequence), "{process} {lane} {sequence}");
        }
        for (process, lane, sequence) in events.into_iter().rev() {
            assert!(!lanes.insert((process, lane), sequence), "{process} {lane} {sequence}");
        }
        lanes.forget();
        assert!(lanes.insert((1, 0), 0));
    }

    /// Whoever counts in leaps gets as much memory as anybody, and loses nothing.
    #[test]
    fn memory_has_an_end() {
        let mut lanes = Lanes::default();
        for leap in 0..2 * BLOCKS as i64 {
            assert!(lanes.insert((1, 0), leap * SLOTS as i64));
        }
        assert!(lanes.blocks.len() <= BLOCKS);
    }

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap()
    }

    #[test]
    fn rows_of_importers_and_rows_without_names_stay() {
        let longs =
            |values: &[Option<i64>]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
        let mut seen = Seen::of(table("events").unwrap()).unwrap();
        let same = || longs(&[Some(1); 4]);
        let source: ArrayRef = Arc::new(StringArray::from(vec!["stream", "dxt", "stream", "dxt"]));
        let columns = vec![("process", same()), ("lane", same()), ("sequence", same())];
        let rows = batch(columns.into_iter().chain([("source", source)]).collect());
        let stays = seen.look(&rows).unwrap().unwrap();
        assert_eq!(stays, BooleanArray::from(vec![true, true, false, true]));
        let mut seen = Seen::of(table("posix").unwrap()).unwrap();
        let processes = longs(&[Some(1), None, None, Some(1), Some(2)]);
        let rows = batch(vec![("process", processes), ("file_id", longs(&[Some(7); 5]))]);
        let stays = seen.look(&rows).unwrap().unwrap();
        assert_eq!(stays, BooleanArray::from(vec![true, true, true, false, true]));
        seen.forget();
        assert_eq!(seen.look(&rows.slice(0, 3)).unwrap(), None);
        assert!(Seen::of(table("activity").unwrap()).is_none());
    }
}
