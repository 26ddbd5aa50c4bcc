//! Rows become the bytes of a Parquet file: sorted, compressed, each column encoded as its schema says, with statistics
//! for every page.

use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use deltalake::parquet::arrow::ArrowWriter;
use deltalake::parquet::arrow::arrow_writer::{ArrowWriterOptions, compute_leaves};
use deltalake::parquet::basic::{Compression, Encoding as Parquet, ZstdLevel};
use deltalake::parquet::file::metadata::{ParquetMetaData, SortingColumn};
use deltalake::parquet::file::properties::{EnabledStatistics, WriterProperties};
use deltalake::parquet::schema::types::ColumnPath;

use super::listed;
use crate::Result;
use crate::schema::{Encoding, Table};

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 20;
/// Rows of a page: what a filter can leave out.
const PAGE_ROWS: usize = 20_000;

/// How a table's files are written.
fn properties(table: &Table) -> WriterProperties {
    let zstd = ZstdLevel::try_new(1).unwrap_or_default();
    let sorted = table.sort.iter().filter_map(|name| {
        let at = table.columns.iter().position(|column| column.name == *name)?;
        let column_idx = i32::try_from(at).ok()?;
        Some(SortingColumn { column_idx, descending: false, nulls_first: true })
    });
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("netra ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(zstd))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_sorting_columns(Some(sorted.collect()));
    for column in &table.columns {
        let path = ColumnPath::from(column.name.as_str());
        builder = match column.encoding {
            Encoding::Listed => builder,
            Encoding::Differences => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Parquet::DELTA_BINARY_PACKED),
            Encoding::Plain => builder.set_column_dictionary_enabled(path, false),
        };
    }
    builder.build()
}

/// A file that is being written.
pub(crate) struct Encoder {
    writer: ArrowWriter<Vec<u8>>,
    rows: usize,
}

impl Encoder {
    pub(crate) fn new(table: &Table) -> Result<Encoder> {
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table))
            // Readers see plain text, whatever we had it in.
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), table.stored(), options)?;
        Ok(Encoder { writer, rows: 0 })
    }

    /// Appends rows, which are sorted behind those before.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows();
        Ok(self.writer.write(batch)?)
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes of the file, and what its foot says.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, ParquetMetaData)> {
        let metadata = self.writer.finish()?;
        Ok((std::mem::take(self.writer.inner_mut()), metadata))
    }
}

/// The bytes of a file with these rows.
pub(crate) fn encode(table: &Table, batch: &RecordBatch) -> Result<(Vec<u8>, ParquetMetaData)> {
    let listed =
        batch.columns().iter().any(|column| matches!(column.data_type(), DataType::Dictionary(..)));
    if listed && batch.num_rows() <= GROUP_ROWS {
        return encode_listed(table, batch);
    }
    let mut encoder = Encoder::new(table)?;
    encoder.write(batch)?;
    encoder.finish()
}

/// The same for rows whose texts are references, which stay that; one row group.
fn encode_listed(table: &Table, batch: &RecordBatch) -> Result<(Vec<u8>, ParquetMetaData)> {
    let (mut file, columns) = Encoder::new(table)?.writer.into_serialized_writer()?;
    let columns = columns.create_column_writers(0)?;
    let stored = table.stored();
    let descriptions = file.schema_descr().columns().to_vec();
    let mut group = file.next_row_group()?;
    let fields = stored.fields().iter().zip(&table.columns).zip(batch.columns());
    for ((((field, about), array), mut writer), column) in
        { fields }.zip(columns).zip(&descriptions)
    {
        let listed = match about.encoding {
            Encoding::Listed => listed::chunk(column, array, PAGE_ROWS)?,
            _ => None,
        };
        match listed {
            Some((bytes, close)) => group.append_column(&bytes, close)?,
            None => {
                for leaf in compute_leaves(field, array)? {
                    writer.write(&leaf)?;
                }
                writer.close()?.append_to_row_group(&mut group)?;
            }
        }
    }
    group.close()?;
    let metadata = file.finish()?;
    Ok((std::mem::take(file.inner_mut()), metadata))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use datafusion::arrow::array::{
        Array as _, ArrayRef, DictionaryArray, Int16Array, Int32Array, Int64Array, StringArray,
        TimestampMicrosecondArray,
    };
    use datafusion::arrow::compute::cast;
    use deltalake::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use proptest::prelude::*;
    use std::sync::Arc;

    use crate::schema::{Kind, table};
    use crate::table::fit;

    /// Rows of the table of events: numbers decide runs, nulls and texts.
    pub(crate) fn made_up(seed: &[(u8, i64)]) -> RecordBatch {
        let events = table("events").unwrap();
        let texts = ["", "b", "a", "ä", "/scratch/a/very/long/path/of/a/file/that/goes/on.dat"];
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (at, column) in (0_i64..).zip(&events.columns) {
            let there = |what: u8| !column.nullable || (i64::from(what) + at) % 4 != 0;
            let each = seed.iter().map(|&(what, number)| there(what).then_some((what, number)));
            let array: ArrayRef = match column.kind {
                Kind::Text => {
                    let keys = each.map(|row| row.map(|(what, _)| i32::from(what) % 5));
                    let keys: Int32Array = keys.collect();
                    Arc::new(DictionaryArray::new(keys, Arc::clone(&texts)))
                }
                Kind::Long => Arc::new(Int64Array::from_iter(
                    each.map(|row| row.map(|(what, number)| number * i64::from(what % 2) + at)),
                )),
                Kind::Short => {
                    Arc::new(Int16Array::from_iter_values(seed.iter().map(|row| i16::from(row.0))))
                }
                Kind::Time => Arc::new(
                    TimestampMicrosecondArray::from_iter_values(seed.iter().map(|row| row.1 >> 12))
                        .with_timezone("UTC"),
                ),
                other => panic!("{other:?}"),
            };
            fields.push(datafusion::arrow::datatypes::Field::new(
                &column.name,
                array.data_type().clone(),
                column.nullable,
            ));
            columns.push(array);
        }
        let schema = Arc::new(datafusion::arrow::datatypes::Schema::new(fields));
        fit(events, &RecordBatch::try_new(schema, columns).unwrap()).unwrap()
    }

    /// What comes back is what went in; bounds of pages and of the file are those of the ready-made writer.
    fn check(batch: &RecordBatch) {
        let events = table("events").unwrap();
        let (bytes, metadata) = encode_listed(events, batch).unwrap();
        let mut ready = Encoder::new(events).unwrap();
        ready.write(batch).unwrap();
        let (_, theirs) = ready.finish().unwrap();
        let (own, their) = (metadata.row_group(0), theirs.row_group(0));
        for (own, their) in own.columns().iter().zip(their.columns()) {
            let name = own.column_path().string();
            let (own, their) = (own.statistics().unwrap(), their.statistics().unwrap());
            assert_eq!(own.null_count_opt(), their.null_count_opt(), "{name}");
            // Long texts are cut there.
            if own.max_bytes_opt().is_none_or(|bytes| bytes.len() < 50) {
                assert_eq!(own.min_bytes_opt(), their.min_bytes_opt(), "{name}");
                assert_eq!(own.max_bytes_opt(), their.max_bytes_opt(), "{name}");
            }
        }
        let index = metadata.offset_index().unwrap();
        let pages = batch.num_rows().div_ceil(PAGE_ROWS);
        assert!(index[0].iter().all(|column| column.page_locations().len() == pages));
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let reader = reader.with_batch_size(batch.num_rows().max(1)).build().unwrap();
        let back: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
        let [back] = &back[..] else { panic!("{} batches", back.len()) };
        for (column, (own, back)) in
            events.columns.iter().zip(batch.columns().iter().zip(back.columns()))
        {
            let plain = cast(own, &column.kind.stored()).unwrap();
            assert_eq!(&cast(back, &column.kind.stored()).unwrap(), &plain, "{}", column.name);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn listed_columns_come_back(seed in proptest::collection::vec((any::<u8>(), any::<i32>().prop_map(i64::from)), 1..200)) {
            check(&made_up(&seed));
        }
    }

    #[test]
    fn pages_runs_and_many_different_numbers_come_back() {
        let long: Vec<(u8, i64)> = (0..45_000).map(|row| ((row / 7000) as u8, row)).collect();
        check(&made_up(&long));
        check(&made_up(&vec![(3, 9); 20_001]));
    }
}
