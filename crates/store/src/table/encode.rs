//! Rows become the bytes of a Parquet file: sorted, compressed, each column encoded as its schema says, with statistics
//! for every page.

use datafusion::arrow::record_batch::RecordBatch;
use deltalake::parquet::arrow::ArrowWriter;
use deltalake::parquet::arrow::arrow_writer::ArrowWriterOptions;
use deltalake::parquet::basic::{Compression, Encoding as Parquet, ZstdLevel};
use deltalake::parquet::file::metadata::{ParquetMetaData, SortingColumn};
use deltalake::parquet::file::properties::{EnabledStatistics, WriterProperties};
use deltalake::parquet::schema::types::ColumnPath;

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
    let mut encoder = Encoder::new(table)?;
    encoder.write(batch)?;
    encoder.finish()
}
