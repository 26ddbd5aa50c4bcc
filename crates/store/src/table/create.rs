//! A table begins, gets columns that it did not have, or turns out to be somebody else's.

use std::collections::HashMap;

use deltalake::kernel::{ArrayType, DataType, MetadataValue, PrimitiveType, StructField};
use deltalake::operations::create::CreateBuilder;
use deltalake::protocol::SaveMode;
use deltalake::{DeltaTable, DeltaTableError};

use super::Handle;
use crate::schema::{Column, DAY, Kind, VERSION};
use crate::{Error, Result};

/// The property that says which schemas a table was written with.
const PROPERTY: &str = "netra.schemaVersion";
/// The version of Delta's protocol that writers of our tables must know: what later ones ask of an entry is not in ours.
const WRITER: i32 = 2;
/// How long a table's log and the files it gave up are kept, so that whoever began to read can end.
const SETTINGS: [(&str, &str); 4] = [
    ("delta.logRetentionDuration", "interval 1 days"),
    ("delta.deletedFileRetentionDuration", "interval 1 hours"),
    ("delta.checkpointInterval", "100"),
    ("delta.enableExpiredLogCleanup", "true"),
];

fn kind(kind: Kind) -> DataType {
    let primitive = match kind {
        Kind::Text => PrimitiveType::String,
        Kind::Long => PrimitiveType::Long,
        Kind::Short => PrimitiveType::Short,
        Kind::Double => PrimitiveType::Double,
        Kind::Flag => PrimitiveType::Boolean,
        Kind::Time => PrimitiveType::Timestamp,
        Kind::Day => PrimitiveType::Date,
        Kind::Raw => PrimitiveType::Binary,
        Kind::Longs => {
            return DataType::Array(Box::new(ArrayType::new(
                DataType::Primitive(PrimitiveType::Long),
                true,
            )));
        }
    };
    DataType::Primitive(primitive)
}

fn field(column: &Column) -> StructField {
    StructField::new(column.name.clone(), kind(column.kind), column.nullable)
        .with_metadata([("comment", MetadataValue::String(column.comment()))])
}

impl Handle {
    /// Begins the table if nobody has; the turn is ours.
    pub(super) async fn begin(&self) -> Result<DeltaTable> {
        let day = StructField::new(DAY, DataType::Primitive(PrimitiveType::Date), false)
            .with_metadata([("comment", MetadataValue::String(self.day_comment()))]);
        let version = VERSION.to_string();
        let settings = SETTINGS.iter().map(|&(key, value)| (key, Some(value)));
        let made = CreateBuilder::new()
            .with_log_store(self.log.clone())
            .with_table_name(self.table.name)
            .with_comment(self.table.doc)
            .with_columns(self.table.columns.iter().map(field).chain([day]))
            .with_partition_columns([DAY])
            .with_configuration(settings.chain([(PROPERTY, Some(version.as_str()))]))
            .with_raise_if_key_not_exists(false)
            .with_save_mode(SaveMode::Ignore)
            .await;
        let mut delta = match made {
            Ok(delta) => delta,
            // Somebody else was faster.
            Err(DeltaTableError::VersionAlreadyExists(_)) => DeltaTable::new(self.log.clone()),
            Err(error) => return Err(Error::of(self.table.name)(error)),
        };
        delta.update_state().await.map_err(Error::of(self.table.name))?;
        self.check(&delta)?;
        Ok(delta)
    }

    fn day_comment(&self) -> String {
        format!("Day of {}, UTC: files of a day lie together.", self.table.time)
    }

    /// Whether the table is one that this netra understands.
    pub(super) fn check(&self, delta: &DeltaTable) -> Result<()> {
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let foreign = |why: String| Error::Foreign {
            table: self.table.name,
            place: self.place.to_string(),
            why,
        };
        let settings: &HashMap<String, String> = state.metadata().configuration();
        let Some(found) = settings.get(PROPERTY) else {
            return Err(foreign(format!("it lacks the property {PROPERTY}")));
        };
        if found.parse::<u32>().map_or(true, |found| found > VERSION) {
            let (table, found) = (self.table.name, found.clone());
            return Err(Error::TooNew { table, found, known: VERSION });
        }
        if state.metadata().partition_columns() != [DAY] {
            return Err(foreign("it is not partitioned by day alone".to_owned()));
        }
        let schema = state.schema();
        for column in &self.table.columns {
            match schema.field(&column.name) {
                Some(found) if *found.data_type() == kind(column.kind) => {}
                Some(found) => {
                    let (name, found) = (&column.name, found.data_type());
                    return Err(foreign(format!("its column {name} is {found}")));
                }
                None if column.nullable => {}
                None => return Err(foreign(format!("it has no column {}", column.name))),
            }
        }
        Ok(())
    }

    /// Whether the table has every column that rows may have, and may be written as we do; the turn is ours.
    pub(super) fn is_wide(&self, delta: &DeltaTable) -> Result<bool> {
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let asked = state.protocol().min_writer_version();
        if asked > WRITER {
            let why = format!("it asks writers for version {asked} of Delta's protocol");
            let (table, place) = (self.table.name, self.place.to_string());
            return Err(Error::Foreign { table, place, why });
        }
        let schema = state.schema();
        Ok(self.table.columns.iter().all(|column| schema.field(&column.name).is_some()))
    }

    /// Gives a table that an older netra wrote the columns that came since; the turn is ours.
    pub(super) async fn widen(&self) -> Result<DeltaTable> {
        let gone = || Error::Gone { table: self.table.name, place: self.place.to_string() };
        let delta = self.caught_up().await?.ok_or_else(gone)?;
        let state = delta.snapshot().map_err(Error::of(self.table.name))?;
        let schema = state.schema();
        let missing =
            self.table.columns.iter().filter(|column| schema.field(&column.name).is_none());
        let missing: Vec<StructField> = missing.map(field).collect();
        delta.add_columns().with_fields(missing).await.map_err(Error::of(self.table.name))
    }
}
