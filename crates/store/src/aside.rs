//! Rows set aside: what came for a table that could not be written. They wait beside the tables, in `_aside`, as Parquet files with the
//! columns of their table and one more, and enter it when it can be written again.
//!
//! **Once.** The further column says at which position of its writer's spool a row ends; the table says up to which position it has
//! that writer's rows ([`Mark`]). What lies behind that enters it, with the position up to which it then has everything; the rest is
//! there. A writer sets all it has for a table aside until what waits is in it, so that positions only ever grow. Several may bring
//! the same rows back at the same time.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _, BooleanArray, Int64Array};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use deltalake::logstore::object_store::{ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use deltalake::parquet::arrow::ArrowWriter;
use deltalake::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use deltalake::parquet::basic::{Compression, ZstdLevel};
use deltalake::parquet::errors::ParquetError;
use deltalake::parquet::file::properties::WriterProperties;
use deltalake::{ObjectStore as _, ObjectStoreError};
use futures::TryStreamExt as _;

use crate::schema::{self, Table};
use crate::table::{Mark, fit, plain};
use crate::{Error, Result, Store};

/// Where rows wait, beside the tables.
pub(crate) const FOLDER: &str = "_aside";
/// The column that tables do not have.
const POSITION: &str = "spool_position";

/// Rows that wait until their table can be written again: one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// Their table.
    pub table: &'static str,
    /// Whose they are: the name of a [`Mark`].
    pub writer: String,
    /// Up to which position of its spool.
    pub position: i64,
    /// How many.
    pub rows: u64,
    /// The length of their file.
    pub bytes: u64,
    path: deltalake::Path,
}

impl Aside {
    /// What a path below the folder says: `TABLE/WRITER/POSITION-ROWS.parquet`.
    fn of(below: &str, path: &deltalake::Path, bytes: u64) -> Option<Aside> {
        let mut parts = below.trim_start_matches('/').split('/');
        let (table, writer, name) = (parts.next()?, parts.next()?, parts.next()?);
        let (position, rows) = name.strip_suffix(".parquet")?.split_once('-')?;
        let (table, writer) = (schema::table(table)?.name, writer.to_owned());
        let (position, rows) = (position.parse().ok()?, rows.parse().ok()?);
        Some(Aside { table, writer, position, rows, bytes, path: path.clone() })
    }
}

/// The columns of a table's rows that wait.
fn columns(table: &Table) -> SchemaRef {
    let position = Arc::new(Field::new(POSITION, DataType::Int64, false));
    let fields = table.stored().fields().iter().cloned().chain([position]).collect::<Vec<_>>();
    Arc::new(Schema::new(fields))
}

/// The bytes of a file with these rows, each with its position.
fn encode(table: &'static Table, rows: &[(i64, RecordBatch)]) -> Result<Vec<u8>> {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    let schema = columns(table);
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    for (position, batch) in rows {
        let batch = plain(table, &fit(table, batch)?)?;
        let positions: ArrayRef = Arc::new(Int64Array::from(vec![*position; batch.num_rows()]));
        let columns = batch.columns().iter().cloned().chain([positions]).collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    Ok(writer.into_inner()?)
}

/// The rows of a file that lie behind a position, as their table has them.
fn decode(bytes: bytes::Bytes, past: i64) -> std::result::Result<Vec<RecordBatch>, ParquetError> {
    let mut rows = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(bytes)?.build()? {
        let mut batch = batch?;
        let at = batch.schema().index_of(POSITION)?;
        let positions = batch.remove_column(at);
        let positions = positions.as_primitive_opt::<Int64Type>().ok_or_else(|| {
            ParquetError::General(format!("its column {POSITION} has no positions"))
        })?;
        let behind: BooleanArray = positions.iter().map(|at| at.map(|at| at > past)).collect();
        rows.push(filter_record_batch(&batch, &behind)?);
    }
    Ok(rows)
}

impl Store {
    /// Everything that waits, by table, writer and position.
    ///
    /// # Errors
    /// The storage can not be read.
    pub async fn aside(&self) -> Result<Vec<Aside>> {
        let folder = self.place().table(FOLDER);
        let found: Vec<_> = self.place().storage().list(Some(&folder)).try_collect().await?;
        let mut all: Vec<Aside> = found
            .iter()
            .filter_map(|file| {
                let below = file.location.as_ref().strip_prefix(folder.as_ref())?;
                Aside::of(below, &file.location, file.size)
            })
            .collect();
        all.sort_by(|a, b| (a.table, &a.writer, a.position).cmp(&(b.table, &b.writer, b.position)));
        Ok(all)
    }

    /// Sets rows of a table aside, each with its position; what waits then is durable, and reaches up to the mark.
    pub(crate) async fn set_aside(
        &self,
        table: &'static Table,
        rows: &[(i64, RecordBatch)],
        mark: &Mark,
    ) -> Result<u64> {
        let count: usize = rows.iter().map(|(_, batch)| batch.num_rows()).sum();
        if count == 0 {
            return Ok(0);
        }
        let bytes = encode(table, rows)?;
        let name = format!("{:020}-{count}.parquet", mark.position);
        let folder = self.place().table(FOLDER).join(table.name).join(mark.name.as_str());
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let payload = PutPayload::from(bytes);
        self.place().storage().put_opts(&folder.join(name), payload, options).await?;
        Ok(count as u64)
    }

    /// Brings rows that were set aside into their table, which can be written again; says how many it lacked.
    ///
    /// # Errors
    /// The table can still not be written, or what waits not be read: it stays where it is.
    pub async fn restore(&self, waiting: &[Aside]) -> Result<u64> {
        let mut restored = 0;
        for aside in waiting {
            let bytes = match self.place().storage().get(&aside.path).await {
                Ok(found) => found.bytes().await?,
                // Somebody else brought it back.
                Err(ObjectStoreError::NotFound { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let past = self.mark(aside.table, &aside.writer).await?.unwrap_or(i64::MIN);
            let rows = decode(bytes, past).map_err(|source| Error::Damaged {
                table: aside.table,
                path: aside.path.to_string(),
                source,
            })?;
            let mark = Mark { name: aside.writer.clone(), position: aside.position };
            restored += self.append(aside.table, &rows, Some(&mark)).await?;
            match self.place().storage().delete(&aside.path).await {
                Ok(()) | Err(ObjectStoreError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(restored)
    }
    /// Brings everything that waits into tables that can be written again, table by table; says how many rows each lacked.
    ///
    /// # Errors
    /// The storage can not be read.
    pub async fn restore_all(&self) -> Result<Vec<(&'static str, Result<u64>)>> {
        let mut all: Vec<(&'static str, Result<u64>)> = Vec::new();
        for of_writer in
            self.aside().await?.chunk_by(|a, b| (a.table, &a.writer) == (b.table, &b.writer))
        {
            let Some(table) = of_writer.first().map(|aside| aside.table) else { continue };
            let restored = self.restore(of_writer).await;
            match (all.last_mut(), restored) {
                (Some((last, Ok(sum))), Ok(more)) if *last == table => *sum += more,
                (Some((last, failed)), Err(error)) if *last == table => *failed = Err(error),
                (Some((last, Err(_))), Ok(_)) if *last == table => {}
                (_, restored) => all.push((table, restored)),
            }
        }
        Ok(all)
    }
}
