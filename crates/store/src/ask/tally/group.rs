//! Which group a row belongs to.
//!
//! A batch is first looked through for neighbours that are equal. Where they are long runs, each is looked up once; where
//! they are not, every row is; of rows that refer to a list, each value of the list. Groups are numbered as they come; the
//! values of each are taken out of the batch that had it first.

use std::ops::Range;

use datafusion::arrow::array::{ArrayRef, AsArray as _, UInt32Array};
use datafusion::arrow::compute::{cast, concat, take};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, internal_datafusion_err as internal};

use super::word::{Column, Texts};

/// Rows of a run, on average, from which runs pay.
const RUN: usize = 8;
/// Places of the table for each group, so that most are found at the first look.
const ROOM: usize = 4;
/// Rows of a batch that tell whether there may be runs in it.
const SAMPLE: usize = 256;
/// Of a listed value: nobody has looked for its group yet.
const UNKNOWN: u32 = u32::MAX;
/// Words of the last rows and their groups, each at [its place](near_place): where one column has few values, no more
/// is looked at.
type Near = [(u128, u32); 64];

/// The groups of a batch's rows.
#[derive(Debug)]
pub(super) enum Rows<'a> {
    /// Runs of rows, each of one group.
    Runs(&'a [(usize, Range<usize>)]),
    /// The group of each row.
    Each(&'a [u32]),
}

/// The groups so far.
#[derive(Debug, Default)]
pub(super) struct Groups {
    texts: Texts,
    /// By column: the word of each group.
    words: Vec<Vec<u128>>,
    /// Number of a group and one, at the place that its words say or behind it; 0 where there is none.
    table: Vec<u32>,
    len: usize,
    /// By column: the groups' values, as they were taken out of batches.
    values: Vec<Vec<ArrayRef>>,
    // Of the last batch; kept between batches for their memory.
    in_runs: bool,
    changes: Vec<bool>,
    runs: Vec<(usize, Range<usize>)>,
    each: Vec<u32>,
    rooms: Vec<Vec<u128>>,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// About what they take.
    pub(super) fn bytes(&self) -> usize {
        let values = self.values.iter().flatten().map(|array| array.get_array_memory_size());
        self.texts.bytes()
            + self.words.iter().map(|words| words.capacity() * size_of::<u128>()).sum::<usize>()
            + self.table.capacity() * size_of::<u32>()
            + values.sum::<usize>()
    }

    /// The groups of the rows of the last batch.
    pub(super) fn rows(&self) -> Rows<'_> {
        if self.in_runs { Rows::Runs(&self.runs) } else { Rows::Each(&self.each) }
    }

    /// Finds the groups of the rows of a batch.
    pub(super) fn find(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let rows = arrays.first().map_or(0, |array| array.len());
        let mut columns = Vec::with_capacity(arrays.len());
        for array in arrays {
            let column = Column::of(array);
            columns.push(column.ok_or_else(|| internal!("{} has no words", array.data_type()))?);
        }
        self.words.resize(columns.len(), Vec::new());
        self.values.resize(columns.len(), Vec::new());
        self.in_runs = self.has_runs(&columns, rows.min(SAMPLE)) && self.has_runs(&columns, rows);
        let mut first_rows = Vec::new();
        match &mut columns[..] {
            _ if self.in_runs => self.by_run(&mut columns, rows, &mut first_rows),
            [column] if column.places().is_some() => self.by_place(column, &mut first_rows),
            _ => self.by_row(&mut columns, rows, &mut first_rows),
        }
        self.keep(arrays, first_rows)
    }

    /// Whether the first rows of a batch are runs, on average; where they are, `changes` says where each ends.
    fn has_runs(&mut self, columns: &[Column<'_>], rows: usize) -> bool {
        self.changes.clear();
        self.changes.resize(rows.saturating_sub(1), false);
        for column in columns {
            column.mark_changes(&mut self.changes);
        }
        (self.changes.iter().filter(|&&change| change).count() + 1) * RUN <= rows
    }

    fn by_run(&mut self, columns: &mut [Column<'_>], rows: usize, first_rows: &mut Vec<u32>) {
        self.runs.clear();
        let mut key = Vec::with_capacity(columns.len());
        let mut start = 0;
        while start < rows {
            let end = self.changes[start..].iter().position(|&change| change);
            let end = end.map_or(rows, |further| start + further + 1);
            key.clear();
            for column in &mut *columns {
                key.push(column.word(start, &mut self.texts));
            }
            let hash = key.iter().fold(0, |hash, &word| mix(hash, word));
            let group = self.group(hash, |column| key[column], start, first_rows);
            self.runs.push((group, start..end));
            start = end;
        }
    }

    fn by_row(&mut self, columns: &mut [Column<'_>], rows: usize, first_rows: &mut Vec<u32>) {
        let mut rooms = std::mem::take(&mut self.rooms);
        rooms.resize(columns.len(), Vec::new());
        let mut each = std::mem::take(&mut self.each);
        each.clear();
        let mut words = Vec::with_capacity(columns.len());
        for (column, room) in columns.iter_mut().zip(&mut rooms) {
            words.push(column.words(rows, &mut self.texts, room));
        }
        if let [words] = words[..] {
            let mut near = nobody_near();
            each.extend(words.iter().enumerate().map(|(row, &word)| {
                let known = near[near_place(word)];
                if known.0 == word {
                    known.1
                } else {
                    self.come_near(&mut near, word, row, first_rows)
                }
            }));
        } else {
            for row in 0..rows {
                let hash = words.iter().fold(0, |hash, words| mix(hash, words[row]));
                each.push(number(self.group(hash, |column| words[column][row], row, first_rows)));
            }
        }
        self.each = each;
        self.rooms = rooms;
    }

    /// Rows that refer to a list: each of its values is looked up once.
    fn by_place(&mut self, column: &mut Column<'_>, first_rows: &mut Vec<u32>) {
        let mut each = std::mem::take(&mut self.each);
        each.clear();
        let mut known = Vec::new();
        if let Some((places, count)) = column.places() {
            known.resize(count, UNKNOWN);
            each.extend(places.iter().map(|&place| place.cast_unsigned()));
        }
        for (row, group) in each.iter_mut().enumerate() {
            let known = &mut known[*group as usize];
            if *known == UNKNOWN {
                let word = column.word(row, &mut self.texts);
                *known = number(self.group(mix(0, word), |_| word, row, first_rows));
            }
            *group = *known;
        }
        self.each = each;
    }

    /// The group of a word that is not near yet.
    #[cold]
    #[inline(never)]
    fn come_near(
        &mut self,
        near: &mut Near,
        word: u128,
        row: usize,
        first_rows: &mut Vec<u32>,
    ) -> u32 {
        let group = number(self.group(mix(0, word), |_| word, row, first_rows));
        near[near_place(word)] = (word, group);
        group
    }

    /// The group with these words; a new one, whose values are in this row, if there is none yet.
    #[inline]
    fn group(
        &mut self,
        hash: u64,
        word: impl Fn(usize) -> u128,
        row: usize,
        first_rows: &mut Vec<u32>,
    ) -> usize {
        let mut place = self.place(hash);
        while let Some(&entry @ 1..) = self.table.get(place) {
            let group = entry as usize - 1;
            if self.words.iter().enumerate().all(|(at, words)| words[group] == word(at)) {
                return group;
            }
            place = (place + 1) & (self.table.len() - 1);
        }
        self.add(hash, word, row, first_rows)
    }

    #[cold]
    fn add(
        &mut self,
        hash: u64,
        word: impl Fn(usize) -> u128,
        row: usize,
        first_rows: &mut Vec<u32>,
    ) -> usize {
        let group = self.len;
        for (at, words) in self.words.iter_mut().enumerate() {
            words.push(word(at));
        }
        self.len += 1;
        first_rows.push(number(row));
        if self.len * ROOM > self.table.len() {
            self.table = vec![0; (self.len * 2 * ROOM).next_power_of_two()];
            for group in 0..self.len {
                let hash = self.words.iter().fold(0, |hash, words| mix(hash, words[group]));
                self.enter(hash, group);
            }
        } else {
            self.enter(hash, group);
        }
        group
    }

    fn enter(&mut self, hash: u64, group: usize) {
        let mut place = self.place(hash);
        while self.table[place] != 0 {
            place = (place + 1) & (self.table.len() - 1);
        }
        self.table[place] = number(group + 1);
    }

    /// Where a group of this hash is looked for first: its highest bits, which depend on all of the words.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        match self.table.len() {
            0 => 0,
            len => (hash >> (64 - len.trailing_zeros())) as usize,
        }
    }

    /// Takes the values of new groups out of a batch.
    fn keep(&mut self, arrays: &[ArrayRef], first_rows: Vec<u32>) -> Result<()> {
        if first_rows.is_empty() {
            return Ok(());
        }
        let first_rows = UInt32Array::from(first_rows);
        for (array, values) in arrays.iter().zip(&mut self.values) {
            let taken = whole(&take(array, &first_rows, None)?)?;
            // Texts refer to the batch's memory; these are few, and it is large.
            values.push(match taken.as_string_view_opt() {
                Some(texts) => std::sync::Arc::new(texts.gc()),
                None => taken,
            });
        }
        Ok(())
    }

    /// The values of all groups, in the order of their numbers; there is none afterwards.
    pub(super) fn take(&mut self) -> Result<Vec<ArrayRef>> {
        let values = std::mem::take(&mut self.values);
        *self = Groups::default();
        values
            .iter()
            .map(|parts| {
                let parts: Vec<_> = parts.iter().map(AsRef::as_ref).collect();
                Ok(concat(&parts)?)
            })
            .collect()
    }
}

/// References as the texts that they refer to; anything else as it is.
pub(super) fn whole(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Dictionary(..) => Ok(cast(array, &DataType::Utf8View)?),
        _ => Ok(std::sync::Arc::clone(array)),
    }
}

/// A row of a batch or the number of a group: the caller lets there be far fewer than this can count.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// Where no word is near: at each place stands one that belongs to another place.
fn nobody_near() -> Near {
    let mut near: Near = [(0, 0); 64];
    near[near_place(0)].0 = 1;
    near
}

/// One of 64 places for a word; another one for 1 than for 0.
#[inline(always)]
fn near_place(word: u128) -> usize {
    let both = word as u64 ^ (word >> 64) as u64;
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// One more word into a hash: multiplied by odd numbers without a pattern.
#[inline]
fn mix(hash: u64, word: u128) -> u64 {
    let (low, high) = (word as u64, (word >> 64) as u64);
    let both = low ^ high.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    (hash.rotate_left(23) ^ both).wrapping_mul(0xd6e8_feb8_6659_fd93)
}
