//! A column chunk of values that repeat: they are listed once, rows refer to them. Texts of rows on their way into a table are
//! references already, and in sorted rows most values are those of the row before. The ready-made writer looks every value up by its
//! bytes, row by row, and compares each with the smallest and largest; for the thirty columns of an event that took longer than all else.

use bytes::Bytes;
use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, StringArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{Int32Type, Int64Type};
use deltalake::parquet::basic::{BoundaryOrder, Compression, Encoding, PageType};
use deltalake::parquet::column::page::{CompressedPage, Page, PageWriter as _};
use deltalake::parquet::column::writer::ColumnCloseResult;
use deltalake::parquet::data_type::ByteArray;
use deltalake::parquet::errors::Result;
use deltalake::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use deltalake::parquet::file::statistics::{Statistics, ValueStatistics};
use deltalake::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use deltalake::parquet::schema::types::ColumnDescPtr;

use super::pack::{pack, repeat, run, width};
use crate::quick::Quick;

/// Different numbers of a column up to which they are listed.
const MOST: usize = 1 << 14;

/// The bytes of a chunk, and what the file's foot says of it.
pub(super) type Chunk = (Bytes, ColumnCloseResult);

/// Encodes a column; nothing if it is none of texts by reference or of whole numbers that repeat.
pub(super) fn chunk(
    column: &ColumnDescPtr,
    array: &ArrayRef,
    rows: usize,
) -> Result<Option<Chunk>> {
    let nulls = array.nulls();
    if let Some(texts) = array.as_dictionary_opt::<Int32Type>() {
        let Some(values) = texts.values().as_string_opt::<i32>() else { return Ok(None) };
        let References { places, list } = of_texts(texts.keys().values(), nulls, values);
        let list: Vec<&str> = list.iter().map(|&at| values.value(at as usize)).collect();
        return Listed { column, nulls, references: places, list: &list, rows }.write().map(Some);
    }
    if let Some(numbers) = array.as_primitive_opt::<Int64Type>() {
        let Some(References { places, list }) = of_numbers(numbers.values(), nulls) else {
            return Ok(None);
        };
        return Listed { column, nulls, references: places, list: &list, rows }.write().map(Some);
    }
    Ok(None)
}

/// References of rows that are not null into a list of what they refer to, while both are made.
#[derive(Default)]
struct References<V> {
    places: Vec<u32>,
    list: Vec<V>,
}

impl<V: Copy> References<V> {
    /// The place of a value that was not seen before.
    fn add(&mut self, value: V) -> u32 {
        self.list.push(value);
        self.list.len() as u32 - 1
    }

    /// Goes through runs of the same value, where `find` says their place, as long as the list is no longer than `most`.
    fn gather(
        &mut self,
        values: &[V],
        nulls: Option<&NullBuffer>,
        most: usize,
        mut find: impl FnMut(&mut Self, V) -> u32,
    ) -> bool
    where
        V: PartialEq,
    {
        self.places.reserve(values.len());
        let whole = [(0, values.len())];
        let there = nulls.map(|nulls| nulls.valid_slices());
        let mut spans =
            there.into_iter().flatten().chain(whole.into_iter().filter(|_| nulls.is_none()));
        let mut last = None;
        spans.all(|(from, to)| {
            let mut rest = &values[from..to];
            while let Some(&value) = rest.first() {
                let length = run(rest);
                let place = match last {
                    Some((same, place)) if same == value => place,
                    _ => find(self, value),
                };
                last = Some((value, place));
                self.places.resize(self.places.len() + length, place);
                rest = &rest[length..];
                if self.list.len() > most {
                    return false;
                }
            }
            true
        })
    }
}

/// References into the list of texts that are used.
fn of_texts(keys: &[i32], nulls: Option<&NullBuffer>, values: &StringArray) -> References<i32> {
    const UNUSED: u32 = u32::MAX;
    let mut known = vec![UNUSED; values.len()];
    let mut references = References::default();
    references.gather(keys, nulls, usize::MAX, |references, key| {
        let place = &mut known[key as usize];
        if *place == UNUSED {
            *place = references.add(key);
        }
        *place
    });
    references
}

/// The same for numbers; nothing if there are too many different ones.
fn of_numbers(numbers: &[i64], nulls: Option<&NullBuffer>) -> Option<References<i64>> {
    let mut known: Quick<u64, u32> = Quick::default();
    let mut references = References::default();
    let few = references.gather(numbers, nulls, MOST, |references, number| {
        *known.entry(number.cast_unsigned()).or_insert_with(|| references.add(number))
    });
    few.then_some(references)
}

/// What can be listed.
trait Value: Ord + Copy {
    /// As the list has it.
    fn plain(self, out: &mut Vec<u8>);
    /// As an index of pages has it.
    fn bound(self) -> Vec<u8>;
    /// As the foot of a file has the smallest and largest.
    fn statistics(bounds: Option<(Self, Self)>, nulls: u64) -> Statistics;
}

impl Value for &str {
    fn plain(self, out: &mut Vec<u8>) {
        out.extend((self.len() as u32).to_le_bytes());
        out.extend(self.as_bytes());
    }

    fn bound(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn statistics(bounds: Option<(Self, Self)>, nulls: u64) -> Statistics {
        let (least, most) = bounds.unzip();
        let bytes = |text: Option<&str>| text.map(ByteArray::from);
        let of = ValueStatistics::new(bytes(least), bytes(most), None, Some(nulls), false);
        Statistics::ByteArray(of)
    }
}

impl Value for i64 {
    fn plain(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn bound(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn statistics(bounds: Option<(Self, Self)>, nulls: u64) -> Statistics {
        let (least, most) = bounds.unzip();
        Statistics::Int64(ValueStatistics::new(least, most, None, Some(nulls), false))
    }
}

/// A column on its way.
struct Listed<'a, V> {
    column: &'a ColumnDescPtr,
    nulls: Option<&'a NullBuffer>,
    /// Of rows that are not null.
    references: Vec<u32>,
    list: &'a [V],
    /// Rows of a page.
    rows: usize,
}

impl<V: Value> Listed<'_, V> {
    fn write(&self) -> Result<Chunk> {
        let nullable = self.column.max_def_level() > 0;
        let count = self.nulls.map_or(self.references.len(), NullBuffer::len);
        let order = self.order();
        let mut out = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut out);
        let mut plain = Vec::new();
        self.list.iter().for_each(|value| value.plain(&mut plain));
        let length = plain.len();
        let first = Page::DictionaryPage {
            buf: plain.into(),
            num_values: self.list.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let dictionary = pages.write_page(CompressedPage::new(first, length))?;
        let mut bytes = dictionary.uncompressed_size;
        let mut bounds = ColumnIndexBuilder::new(self.column.physical_type());
        let mut offsets = OffsetIndexBuilder::new();
        let (mut row, mut from, mut made) = (0, 0, 0);
        let mut spans: Vec<Option<(u32, u32)>> = Vec::new();
        while row < count {
            let rows = self.rows.min(count - row);
            let nulls = self.nulls.map(|nulls| nulls.slice(row, rows));
            let missing = nulls.as_ref().map_or(0, NullBuffer::null_count);
            let references = &self.references[from..from + rows - missing];
            let buffer = self.page(nullable, nulls.as_ref(), rows, references);
            let length = buffer.len();
            let page = Page::DataPage {
                buf: buffer.into(),
                num_values: rows as u32,
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let written = pages.write_page(CompressedPage::new(page, length))?;
            let span = span(&order, references);
            let bound = |place: Option<u32>| {
                place.map_or_else(Vec::new, |place| self.list[place as usize].bound())
            };
            let (least, most) = span.unzip();
            bounds.append(span.is_none(), bound(least), bound(most), missing as i64);
            offsets.append_row_count(rows as i64);
            offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
            bytes += written.uncompressed_size;
            (row, from, made) = (row + rows, from + references.len(), made + 1);
            spans.push(span);
        }
        pages.close()?;
        bounds.set_boundary_order(match is_ascending(&order, &spans) {
            true => BoundaryOrder::ASCENDING,
            false => BoundaryOrder::UNORDERED,
        });
        let stats = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        let ends: Vec<u32> =
            spans.iter().flatten().flat_map(|&(least, most)| [least, most]).collect();
        let whole = span(&order, &ends);
        let whole =
            whole.map(|(least, most)| (self.list[least as usize], self.list[most as usize]));
        let metadata = ColumnChunkMetaData::builder(self.column.clone())
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, made),
            ])
            .set_num_values(count as i64)
            .set_total_uncompressed_size(bytes as i64)
            .set_total_compressed_size(bytes as i64)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(dictionary.bytes_written as i64)
            .set_statistics(V::statistics(whole, (count - self.references.len()) as u64))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes as u64,
            rows_written: count as u64,
            metadata,
            bloom_filter: None,
            column_index: Some(bounds.build()?),
            offset_index: Some(offsets.build()),
        };
        Ok((out.into_inner()?.into(), close))
    }

    /// Whether rows are there, then what they refer to.
    fn page(
        &self,
        nullable: bool,
        nulls: Option<&NullBuffer>,
        rows: usize,
        references: &[u32],
    ) -> Vec<u8> {
        let mut page = Vec::new();
        if nullable {
            page.extend([0; 4]);
            match nulls.filter(|nulls| nulls.null_count() > 0) {
                Some(nulls) if nulls.null_count() == rows => repeat(0, rows, 1, &mut page),
                Some(nulls) => {
                    let there: Vec<u32> = nulls.iter().map(u32::from).collect();
                    pack(&there, 1, &mut page);
                }
                None => repeat(1, rows, 1, &mut page),
            }
            let length = (page.len() - 4) as u32;
            page[..4].copy_from_slice(&length.to_le_bytes());
        }
        let width = width(self.list.len());
        page.push(width as u8);
        pack(references, width, &mut page);
        page
    }

    /// The place of each listed value among all of them by size.
    fn order(&self) -> Vec<u32> {
        let mut sorted: Vec<usize> = (0..self.list.len()).collect();
        sorted.sort_by_key(|&place| self.list[place]);
        let mut order = vec![0; sorted.len()];
        for (at, place) in (0..).zip(sorted) {
            order[place] = at;
        }
        order
    }
}

/// The smallest and the largest of what is referred to.
fn span(order: &[u32], references: &[u32]) -> Option<(u32, u32)> {
    let &first = references.first()?;
    let mut span = (first, first);
    let mut rest = references;
    while let Some(&place) = rest.first() {
        rest = &rest[run(rest)..];
        if order[place as usize] < order[span.0 as usize] {
            span.0 = place;
        } else if order[place as usize] > order[span.1 as usize] {
            span.1 = place;
        }
    }
    Some(span)
}

/// Whether the bounds of pages grow, or stay.
fn is_ascending(order: &[u32], spans: &[Option<(u32, u32)>]) -> bool {
    let known: Vec<(u32, u32)> = spans
        .iter()
        .flatten()
        .map(|&(least, most)| (order[least as usize], order[most as usize]))
        .collect();
    known.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1)
}
