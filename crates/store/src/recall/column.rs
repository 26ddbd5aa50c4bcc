//! The columns of rows that were asked for, by name.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, Float64Array, Int16Array, Int64Array, ListArray,
    StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;

use crate::{Error, Result};

/// Rows that were asked for.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    batch: &'a RecordBatch,
}

/// Texts of a column, in whatever form a query gives them.
#[derive(Debug)]
pub(crate) struct Texts(StringArray);

impl Texts {
    /// The text of a row, if there is one.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// Whole numbers of a column.
#[derive(Debug)]
pub(crate) struct Longs<'a>(&'a Int64Array);

impl Longs<'_> {
    /// The number of a row, if there is one.
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

impl<'a> Columns<'a> {
    pub(crate) fn new(batch: &'a RecordBatch) -> Columns<'a> {
        Columns { batch }
    }

    fn column(&self, name: &str) -> Result<&'a ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| Error::Rows {
            table: "a stored job",
            why: format!("there is no column {name}; another program wrote this store"),
        })
    }

    fn of<T: Array + 'static>(&self, name: &str) -> Result<&'a T> {
        let column = self.column(name)?;
        column.as_any().downcast_ref().ok_or_else(|| Error::Rows {
            table: "a stored job",
            why: format!("{name} is {}; another program wrote this store", column.data_type()),
        })
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Texts> {
        let plain = cast(self.column(name)?, &DataType::Utf8)?;
        Ok(Texts(plain.as_string::<i32>().clone()))
    }

    pub(crate) fn longs(&self, name: &str) -> Result<Longs<'a>> {
        Ok(Longs(self.of(name)?))
    }

    pub(crate) fn shorts(&self, name: &str) -> Result<&'a Int16Array> {
        self.of(name)
    }

    pub(crate) fn doubles(&self, name: &str) -> Result<&'a Float64Array> {
        self.of(name)
    }

    pub(crate) fn flags(&self, name: &str) -> Result<&'a BooleanArray> {
        self.of(name)
    }

    pub(crate) fn times(&self, name: &str) -> Result<&'a TimestampMicrosecondArray> {
        self.of(name)
    }

    pub(crate) fn lists(&self, name: &str) -> Result<&'a ListArray> {
        self.of(name)
    }
}

/// The whole numbers of one row of a list.
pub(crate) fn list(lists: &ListArray, row: usize) -> Vec<i64> {
    if lists.is_null(row) {
        return Vec::new();
    }
    let values = lists.value(row);
    let values = values.as_any().downcast_ref::<Int64Array>();
    values.map_or_else(Vec::new, |values| values.values().to_vec())
}
