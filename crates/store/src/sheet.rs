//! Rows written cell by cell, for tables that get few: columns by name, what is not said is null.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Float64Builder, Int16Builder,
    Int64Builder, ListBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;

use crate::schema::{self, Kind, Table};
use crate::{Error, Result};

/// What stands in one row and column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// A text.
    Text(&'a str),
    /// A whole number, of whatever size the column has.
    Long(i64),
    /// A number with fraction.
    Double(f64),
    /// True or false.
    Flag(bool),
    /// A moment, microseconds since 1970.
    Time(i64),
    /// Several whole numbers.
    Longs(&'a [i64]),
    /// Bytes.
    Raw(&'a [u8]),
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Cell<'a> {
        text.map_or(Cell::Null, Cell::Text)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Text(text)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Cell::Long(number)
    }
}

impl From<Option<i64>> for Cell<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Cell::Null, Cell::Long)
    }
}

/// The cells of a column.
#[derive(Debug)]
enum Cells {
    Text(StringBuilder),
    Long(Int64Builder),
    Short(Int16Builder),
    Double(Float64Builder),
    Flag(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
    Day(Date32Builder),
    Longs(ListBuilder<Int64Builder>),
    Raw(BinaryBuilder),
}

impl Cells {
    fn new(kind: Kind) -> Cells {
        match kind {
            Kind::Text => Cells::Text(StringBuilder::new()),
            Kind::Long => Cells::Long(Int64Builder::new()),
            Kind::Short => Cells::Short(Int16Builder::new()),
            Kind::Double => Cells::Double(Float64Builder::new()),
            Kind::Flag => Cells::Flag(BooleanBuilder::new()),
            Kind::Time => {
                Cells::Time(TimestampMicrosecondBuilder::new().with_data_type(Kind::Time.stored()))
            }
            Kind::Day => Cells::Day(Date32Builder::new()),
            Kind::Longs => {
                let element = Field::new("element", Kind::Long.stored(), true);
                Cells::Longs(ListBuilder::new(Int64Builder::new()).with_field(element))
            }
            Kind::Raw => Cells::Raw(BinaryBuilder::new()),
        }
    }

    /// Appends; false if the cell is something else than the column.
    fn push(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Cells::Text(cells), Cell::Text(text)) => cells.append_value(text),
            (Cells::Text(cells), Cell::Null) => cells.append_null(),
            (Cells::Long(cells), Cell::Long(number)) => cells.append_value(number),
            (Cells::Long(cells), Cell::Null) => cells.append_null(),
            (Cells::Short(cells), Cell::Long(number)) => match i16::try_from(number) {
                Ok(number) => cells.append_value(number),
                Err(_) => return false,
            },
            (Cells::Short(cells), Cell::Null) => cells.append_null(),
            (Cells::Double(cells), Cell::Double(number)) => cells.append_value(number),
            (Cells::Double(cells), Cell::Null) => cells.append_null(),
            (Cells::Flag(cells), Cell::Flag(flag)) => cells.append_value(flag),
            (Cells::Flag(cells), Cell::Null) => cells.append_null(),
            (Cells::Time(cells), Cell::Time(micros)) => cells.append_value(micros),
            (Cells::Time(cells), Cell::Null) => cells.append_null(),
            (Cells::Day(cells), Cell::Null) => cells.append_null(),
            (Cells::Longs(cells), Cell::Longs(numbers)) => {
                cells.values().append_slice(numbers);
                cells.append(true);
            }
            (Cells::Longs(cells), Cell::Null) => cells.append(false),
            (Cells::Raw(cells), Cell::Raw(bytes)) => cells.append_value(bytes),
            (Cells::Raw(cells), Cell::Null) => cells.append_null(),
            _ => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Cells::Text(cells) => Arc::new(cells.finish()),
            Cells::Long(cells) => Arc::new(cells.finish()),
            Cells::Short(cells) => Arc::new(cells.finish()),
            Cells::Double(cells) => Arc::new(cells.finish()),
            Cells::Flag(cells) => Arc::new(cells.finish()),
            Cells::Time(cells) => Arc::new(cells.finish()),
            Cells::Day(cells) => Arc::new(cells.finish()),
            Cells::Longs(cells) => Arc::new(cells.finish()),
            Cells::Raw(cells) => Arc::new(cells.finish()),
        }
    }
}

/// Rows of a table, being written.
#[derive(Debug)]
pub struct Sheet {
    table: &'static Table,
    places: HashMap<&'static str, usize>,
    columns: Vec<Cells>,
    said: Vec<bool>,
    rows: usize,
    wrong: Option<String>,
}

impl Sheet {
    /// An empty one.
    ///
    /// # Errors
    /// There is no such table.
    pub fn new(table: &str) -> Result<Sheet> {
        let found = schema::table(table);
        let table = found.ok_or_else(|| Error::NoTable { name: table.to_owned() })?;
        Ok(Sheet::of(table))
    }

    pub(crate) fn of(table: &'static Table) -> Sheet {
        let names = table.columns.iter().map(|column| column.name.as_str());
        Sheet {
            places: names.zip(0..).collect(),
            columns: table.columns.iter().map(|column| Cells::new(column.kind)).collect(),
            said: vec![false; table.columns.len()],
            rows: 0,
            wrong: None,
            table,
        }
    }

    /// Rows that were ended.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Says a cell of the row that is being written; the first word counts. What does not fit is an error at the end of the row.
    pub fn put<'a>(&mut self, name: &str, cell: impl Into<Cell<'a>>) -> &mut Sheet {
        match self.places.get(name) {
            Some(&place) if !self.said[place] => {
                self.said[place] = self.columns[place].push(cell.into());
                if !self.said[place] {
                    self.wrong.get_or_insert_with(|| format!("{name} is something else"));
                }
            }
            Some(_) => {}
            None => {
                self.wrong.get_or_insert_with(|| format!("no column is called {name}"));
            }
        }
        self
    }

    /// Ends the row: what was not said is null.
    ///
    /// # Errors
    /// A cell did not fit its column, or there is no such column.
    pub fn end_row(&mut self) -> Result<()> {
        for (said, column) in self.said.iter_mut().zip(&mut self.columns) {
            if !std::mem::take(said) {
                column.push(Cell::Null);
            }
        }
        self.rows += 1;
        match self.wrong.take() {
            None => Ok(()),
            Some(why) => Err(Error::Rows { table: self.table.name, why }),
        }
    }

    /// The rows so far; the sheet is empty then.
    ///
    /// # Errors
    /// A cell is missing that may not be null.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(Cells::finish).collect();
        for (column, array) in self.table.columns.iter().zip(&columns) {
            if !column.nullable && array.null_count() > 0 {
                let why = format!("{} is missing in some rows", column.name);
                return Err(Error::Rows { table: self.table.name, why });
            }
        }
        let fields: Vec<Field> = self.table.columns.iter().map(schema::Column::stored).collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_null_and_what_is_wrong_is_named() {
        let mut sheet = Sheet::new("messages").unwrap();
        sheet.put("tag", "a").put("t", Cell::Time(5)).put("t_ns", 7).put("form", "text");
        sheet.put("publisher", 1).put("sequence", 2).put("text", "hello");
        sheet.end_row().unwrap();
        let batch = sheet.finish().unwrap();
        assert_eq!(batch.num_rows(), 1);
        assert_eq!(batch.column_by_name("uid").unwrap().null_count(), 1);
        sheet.put("tag", 5_i64);
        let wrong = sheet.end_row().unwrap_err().to_string();
        assert_eq!(wrong, "rows for messages: tag is something else");
        sheet.put("tog", "x");
        let wrong = sheet.end_row().unwrap_err().to_string();
        assert_eq!(wrong, "rows for messages: no column is called tog");
        let wrong = sheet.finish().unwrap_err().to_string();
        assert_eq!(wrong, "rows for messages: tag is missing in some rows");
        assert_eq!(Sheet::new("nothing").unwrap_err().to_string(), "no table is called nothing");
    }
}
