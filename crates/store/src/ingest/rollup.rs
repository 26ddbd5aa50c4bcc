//! What events add up to, while they pass: calls, bytes and time by second, and by function and file.

use std::hash::Hash;

use datafusion::arrow::record_batch::RecordBatch;

use super::event::{Codes, Row};
use super::text::Texts;
use super::who::{FileRow, NONE, Who};
use crate::Result;
use crate::quick::Quick;
use crate::schema::Table;
use crate::sheet::{Cell, Sheet};
use crate::sums::Sums;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The key of a second: who, when; layer and operation, file system and mount.
type SecondKey = (u32, i64, u32, u32, u32, u32);
/// The key of a function: who, the day, its code and the file's index.
type FunctionKey = (u32, i32, u16, u32);

/// Keys that are remembered with their places.
const RECENT: usize = 16;

/// Sums by key. Most events have the key of one shortly before them, and need not look for it.
#[derive(Debug)]
struct Keyed<K> {
    places: Quick<K, usize>,
    sums: Vec<Sums>,
    recent: [Option<(K, usize)>; RECENT],
}

impl<K: Copy> Default for Keyed<K> {
    fn default() -> Keyed<K> {
        Keyed { places: Quick::default(), sums: Vec::new(), recent: [None; RECENT] }
    }
}

impl<K: Copy + Eq + Hash> Keyed<K> {
    #[inline]
    fn add(&mut self, key: K, row: &Row) {
        let slot = (usize::from(row.code) ^ row.file as usize) % RECENT;
        let place = match self.recent[slot] {
            Some((same, place)) if same == key => place,
            _ => self.place(key, slot),
        };
        self.sums[place].add(row.t, row.duration, row.bytes, row.error != NONE);
    }

    fn place(&mut self, key: K, slot: usize) -> usize {
        let next = self.sums.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.sums.push(Sums::NOTHING);
        }
        self.recent[slot] = Some((key, place));
        place
    }

    fn iter(&self) -> impl Iterator<Item = (K, &Sums)> {
        self.places.iter().map(|(&key, &place)| (key, &self.sums[place]))
    }
}

/// Calls by second.
#[derive(Debug, Default)]
pub(super) struct Seconds {
    sums: Keyed<SecondKey>,
}

impl Seconds {
    #[inline]
    pub(super) fn add(&mut self, who: usize, row: &Row, names: [u32; 3], file: &FileRow) {
        let second = row.t.div_euclid(SECOND);
        let key = (who as u32, second, names[0], names[1], file.file_system, file.mount);
        self.sums.add(key, row);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sums.places.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.sums = Keyed::default();
    }

    pub(super) fn batch(
        &self,
        table: &'static Table,
        who: &[Who],
        texts: &Texts,
    ) -> Result<RecordBatch> {
        let mut sheet = Sheet::of(table);
        for ((at, second, layer, op, file_system, mount), sums) in self.sums.iter() {
            let Some(of) = who.get(at as usize) else { continue };
            about(&mut sheet, of, texts);
            sheet.put("t", Cell::Time(second.saturating_mul(1_000_000)));
            sheet.put("layer", texts.get(layer)).put("op", texts.get(op));
            sheet.put("file_system", maybe(texts, file_system)).put("mount", maybe(texts, mount));
            sums.put(&mut sheet);
            sheet.end_row()?;
        }
        sheet.finish()
    }
}

/// Calls by function and file.
#[derive(Debug, Default)]
pub(super) struct Functions {
    sums: Keyed<FunctionKey>,
}

impl Functions {
    #[inline]
    pub(super) fn add(&mut self, who: usize, row: &Row) {
        let day = crate::calendar::day_of(row.t.div_euclid(1000));
        let key = (who as u32, day, row.code, row.file);
        self.sums.add(key, row);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sums.places.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.sums = Keyed::default();
    }

    pub(super) fn batch(
        &self,
        table: &'static Table,
        who: &mut [Who],
        texts: &mut Texts,
        codes: &mut Codes,
    ) -> Result<RecordBatch> {
        let mut sheet = Sheet::of(table);
        for ((at, _, code, file), sums) in self.sums.iter() {
            let Some(of) = who.get_mut(at as usize) else { continue };
            let [layer, op, function] = codes.get(code, texts);
            let file = of.file(file, texts);
            about(&mut sheet, of, texts);
            sheet.put("layer", texts.get(layer)).put("op", texts.get(op));
            sheet.put("function", texts.get(function));
            if file.name != NONE {
                sheet.put("file", texts.get(file.name)).put("file_id", file.id);
                sheet.put("file_system", maybe(texts, file.file_system));
                sheet.put("mount", maybe(texts, file.mount));
            }
            sums.put(&mut sheet);
            sheet.put("t", Cell::Time(sums.first.div_euclid(1000)));
            sheet.put("last", Cell::Time(sums.last.div_euclid(1000)));
            sheet.end_row()?;
        }
        sheet.finish()
    }
}

fn maybe(texts: &Texts, number: u32) -> Option<&str> {
    (number != NONE).then(|| texts.get(number))
}

/// Whose row it is.
pub(super) fn about(sheet: &mut Sheet, who: &Who, texts: &Texts) {
    sheet.put("job", texts.get(who.job)).put("rank", who.rank);
    sheet.put("uid", who.uid).put("user", texts.get(who.user));
    sheet.put("exe", texts.get(who.exe)).put("node", texts.get(who.node));
}
