//! A column: its name, its type, its unit and what it says.

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};

/// The types that columns have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8. Enumerations are text, too.
    Text,
    /// A whole number of 64 bits.
    Long,
    /// A whole number of 16 bits.
    Short,
    /// A number of 64 bits with fraction.
    Double,
    /// True or false.
    Flag,
    /// A moment in microseconds, UTC.
    Time,
    /// A day, UTC.
    Day,
    /// Several whole numbers.
    Longs,
    /// Bytes that need be no text.
    Raw,
}

impl Kind {
    /// The type as it is asked in SQL.
    #[must_use]
    pub fn asked(self) -> DataType {
        match self {
            Kind::Text => DataType::Utf8View,
            Kind::Raw => DataType::BinaryView,
            other => other.stored(),
        }
    }

    /// The type as it is written to files.
    #[must_use]
    pub fn stored(self) -> DataType {
        match self {
            Kind::Text => DataType::Utf8,
            Kind::Long => DataType::Int64,
            Kind::Short => DataType::Int16,
            Kind::Double => DataType::Float64,
            Kind::Flag => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Day => DataType::Date32,
            Kind::Longs => DataType::List(Field::new("element", DataType::Int64, true).into()),
            Kind::Raw => DataType::Binary,
        }
    }
}

/// How a file encodes a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Values are listed once, rows refer to them: for what repeats.
    Listed,
    /// Differences, packed: for times, offsets and numbers that hardly repeat.
    Differences,
    /// As it is.
    Plain,
}

/// What becomes of a column when rows of a roll-up with the same key become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// It is part of the key.
    Key,
    /// They add up.
    Sum,
    /// The smallest stays.
    Least,
    /// The largest stays.
    Most,
}

impl Merge {
    /// What SQL calls it; nothing for a key.
    pub(crate) fn function(self) -> Option<&'static str> {
        match self {
            Merge::Key => None,
            Merge::Sum => Some("sum"),
            Merge::Least => Some("min"),
            Merge::Most => Some("max"),
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in SQL: lower case, so that it needs no quotes however it is spelled.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Whether it may say nothing.
    pub nullable: bool,
    /// Its unit; empty for what has none.
    pub unit: &'static str,
    /// What it says, in one sentence.
    pub doc: String,
    /// How files encode it.
    pub encoding: Encoding,
    /// What merging rows does with it, in a roll-up.
    pub merge: Merge,
}

impl Column {
    fn new(name: &str, kind: Kind, unit: &'static str, doc: &str) -> Column {
        let (name, doc) = (name.to_owned(), doc.to_owned());
        let encoding = match kind {
            Kind::Text | Kind::Long | Kind::Flag => Encoding::Listed,
            Kind::Time => Encoding::Differences,
            _ => Encoding::Plain,
        };
        Column { name, kind, nullable: false, unit, doc, encoding, merge: Merge::Key }
    }

    /// It may say nothing.
    #[must_use]
    pub(super) fn or_null(mut self) -> Column {
        self.nullable = true;
        self
    }

    /// Its values hardly repeat.
    #[must_use]
    pub(super) fn spread(mut self) -> Column {
        self.encoding = Encoding::Differences;
        self
    }

    /// What merging does with it.
    #[must_use]
    pub(super) fn merged(mut self, merge: Merge) -> Column {
        self.merge = merge;
        self
    }

    /// The column as it is asked in SQL.
    #[must_use]
    pub fn asked(&self) -> Field {
        Field::new(&self.name, self.kind.asked(), self.nullable)
    }

    /// The column as it is written to files.
    #[must_use]
    pub fn stored(&self) -> Field {
        Field::new(&self.name, self.kind.stored(), self.nullable)
    }

    /// What it says, with its unit.
    #[must_use]
    pub fn comment(&self) -> String {
        match self.unit {
            "" => self.doc.clone(),
            unit => format!("{} [{unit}]", self.doc),
        }
    }
}

/// A text.
pub(super) fn text(name: &str, doc: &str) -> Column {
    Column::new(name, Kind::Text, "", doc)
}

/// A whole number.
pub(super) fn long(name: &str, unit: &'static str, doc: &str) -> Column {
    Column::new(name, Kind::Long, unit, doc)
}

/// A small whole number.
pub(super) fn short(name: &str, unit: &'static str, doc: &str) -> Column {
    Column::new(name, Kind::Short, unit, doc)
}

/// A number with fraction.
pub(super) fn double(name: &str, unit: &'static str, doc: &str) -> Column {
    Column::new(name, Kind::Double, unit, doc)
}

/// True or false.
pub(super) fn flag(name: &str, doc: &str) -> Column {
    Column::new(name, Kind::Flag, "", doc)
}

/// A moment.
pub(super) fn time(name: &str, doc: &str) -> Column {
    Column::new(name, Kind::Time, "µs since 1970, UTC", doc)
}

/// Several whole numbers.
pub(super) fn longs(name: &str, doc: &str) -> Column {
    Column::new(name, Kind::Longs, "", doc)
}

/// Bytes.
pub(super) fn raw(name: &str, doc: &str) -> Column {
    Column::new(name, Kind::Raw, "", doc)
}
