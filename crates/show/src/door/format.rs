//! Rows as other programs read them: CSV, JSON, Parquet and Arrow; and as people do.

use std::io::{self, Write};

use datafusion::arrow::array::{RecordBatch, RecordBatchWriter};
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;

use super::align::Aligned;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for people, with units where the store knows them.
    Table,
    /// Comma-separated, names in the first line; nothing stands for NULL.
    Csv,
    /// One array of objects.
    Json,
    /// One object a line.
    Lines,
    /// A Parquet file.
    Parquet,
    /// A stream of Arrow record batches (IPC).
    Arrow,
}

impl Format {
    /// Whether a terminal would choke on it.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }
}

/// Writes the rows of one answer.
pub trait Rows: Send {
    /// The next rows.
    fn rows(&mut self, rows: &RecordBatch) -> io::Result<()>;

    /// There are no more. Without it the output may be cut short.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// A writer for this format. Nothing is held back but what the format itself needs: a row group of Parquet, the first rows
/// of a table for people.
pub fn writer<'a>(
    format: Format,
    mut out: impl Write + Send + 'a,
    schema: &SchemaRef,
) -> io::Result<Box<dyn Rows + 'a>> {
    Ok(match format {
        Format::Table => Box::new(Aligned::new(out, schema)),
        Format::Csv => {
            header(&mut out, schema)?;
            let text = csv::WriterBuilder::new().with_header(false).build(out);
            Box::new(Each(text))
        }
        Format::Json => {
            let nulls = json::WriterBuilder::new().with_explicit_nulls(true);
            Box::new(Each(nulls.build::<_, json::writer::JsonArray>(out)))
        }
        Format::Lines => {
            let nulls = json::WriterBuilder::new().with_explicit_nulls(true);
            Box::new(Each(nulls.build::<_, json::writer::LineDelimited>(out)))
        }
        Format::Parquet => {
            let level = ZstdLevel::default();
            let properties =
                WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
            let file = ArrowWriter::try_new(out, schema.clone(), Some(properties));
            Box::new(Each(file.map_err(parquet)?))
        }
        Format::Arrow => Box::new(Each(StreamWriter::try_new(out, schema).map_err(arrow)?)),
    })
}

/// The names, also where there are no rows.
fn header(out: &mut impl Write, schema: &SchemaRef) -> io::Result<()> {
    crate::csv::row(out, schema.fields().iter().map(|field| field.name().as_str()))
}

/// Arrow's own writers all look alike.
struct Each<W>(W);

impl<W: RecordBatchWriter + Send> Rows for Each<W> {
    fn rows(&mut self, rows: &RecordBatch) -> io::Result<()> {
        self.0.write(rows).map_err(arrow)
    }

    fn end(self: Box<Self>) -> io::Result<()> {
        self.0.close().map_err(arrow)
    }
}

/// The error underneath, so that a broken pipe is still seen as one.
fn arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, inner) => inner,
        ArrowError::ExternalError(inner) => match inner.downcast::<ParquetError>() {
            Ok(inner) => parquet(*inner),
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

fn parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
