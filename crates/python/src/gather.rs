//! Rows that somebody else makes, gathered into whole columns for numpy while they come. A batch goes as soon as its values
//! are taken: the memory of all rows is needed once, and pyarrow not at all.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use pyo3::prelude::*;

use crate::frame::{Named, Numbers};

/// The columns of a table, as far as its rows have come.
pub(crate) struct Columns {
    names: Vec<String>,
    all: Vec<Box<dyn Grow>>,
    rows: usize,
}

impl Columns {
    /// Nothing where a column has something else than numbers and times: texts are for who knows Arrow.
    pub(crate) fn begin(schema: &Schema) -> Option<Columns> {
        let fields = schema.fields();
        let all = fields.iter().map(|field| column(field.data_type())).collect::<Option<_>>()?;
        let names = fields.iter().map(|field| field.name().clone()).collect();
        Some(Columns { names, all, rows: 0 })
    }

    /// The next rows.
    pub(crate) fn take(&mut self, batch: &RecordBatch) {
        self.rows += batch.num_rows();
        for (column, array) in self.all.iter_mut().zip(batch.columns()) {
            column.take(array);
        }
    }

    /// The number of rows and the columns, when there are no more.
    pub(crate) fn end(self, py: Python<'_>) -> PyResult<(usize, Vec<Named>)> {
        let columns = self.names.into_iter().zip(self.all);
        let columns = columns.map(|(name, column)| {
            let (values, holes) = column.end();
            let holes = holes.map(|holes| Py::new(py, holes)).transpose()?;
            Ok((name, Py::new(py, values)?, holes, None))
        });
        Ok((self.rows, columns.collect::<PyResult<_>>()?))
    }
}

/// A column that grows.
trait Grow: Send {
    fn take(&mut self, array: &dyn Array);
    /// Its numbers, and which of them are holes, if the numbers do not say so themselves.
    fn end(self: Box<Self>) -> (Numbers, Option<Numbers>);
}

fn column(of: &DataType) -> Option<Box<dyn Grow>> {
    let zone = match of {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        _ => None,
    };
    Some(match of {
        DataType::Int8 => Values::<Int8Type>::marked("|i1"),
        DataType::Int16 => Values::<Int16Type>::marked("<i2"),
        DataType::Int32 => Values::<Int32Type>::marked("<i4"),
        DataType::Int64 => Values::<Int64Type>::marked("<i8"),
        DataType::UInt8 => Values::<UInt8Type>::marked("|u1"),
        DataType::UInt16 => Values::<UInt16Type>::marked("<u2"),
        DataType::UInt32 => Values::<UInt32Type>::marked("<u4"),
        DataType::UInt64 => Values::<UInt64Type>::marked("<u8"),
        DataType::Float32 => Values::<Float32Type>::with_hole("<f4", f32::NAN, zone),
        DataType::Float64 => Values::<Float64Type>::with_hole("<f8", f64::NAN, zone),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                Values::<TimestampSecondType>::with_hole("<M8[s]", NOT_A_TIME, zone)
            }
            TimeUnit::Millisecond => {
                Values::<TimestampMillisecondType>::with_hole("<M8[ms]", NOT_A_TIME, zone)
            }
            TimeUnit::Microsecond => {
                Values::<TimestampMicrosecondType>::with_hole("<M8[us]", NOT_A_TIME, zone)
            }
            TimeUnit::Nanosecond => {
                Values::<TimestampNanosecondType>::with_hole("<M8[ns]", NOT_A_TIME, zone)
            }
        },
        _ => return None,
    })
}

/// What numpy means by no time.
const NOT_A_TIME: i64 = i64::MIN;

struct Values<T: ArrowPrimitiveType> {
    /// How numpy calls the type.
    kind: &'static str,
    zone: Option<String>,
    values: Vec<T::Native>,
    /// A value that means none, where numpy has one.
    hole: Option<T::Native>,
    /// Else which are none, since the first of them came.
    holes: Option<Vec<bool>>,
}

impl<T: ArrowPrimitiveType> Values<T> {
    fn marked(kind: &'static str) -> Box<dyn Grow> {
        Box::new(Values::<T> { kind, zone: None, values: Vec::new(), hole: None, holes: None })
    }

    fn with_hole(kind: &'static str, hole: T::Native, zone: Option<&str>) -> Box<dyn Grow> {
        let zone = zone.map(str::to_owned);
        Box::new(Values::<T> { kind, zone, values: Vec::new(), hole: Some(hole), holes: None })
    }
}

impl<T: ArrowPrimitiveType> Grow for Values<T> {
    fn take(&mut self, array: &dyn Array) {
        let array = array.as_primitive::<T>();
        let before = self.values.len();
        self.values.extend_from_slice(array.values());
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => {
                let hole = self.hole.unwrap_or_default();
                for (value, is) in self.values.iter_mut().skip(before).zip(nulls) {
                    if !is {
                        *value = hole;
                    }
                }
                if self.hole.is_none() {
                    let holes = self.holes.get_or_insert_with(|| vec![false; before]);
                    holes.extend(nulls.iter().map(|is| !is));
                }
            }
            None => {
                if let Some(holes) = &mut self.holes {
                    holes.resize(self.values.len(), false);
                }
            }
        }
    }

    fn end(self: Box<Self>) -> (Numbers, Option<Numbers>) {
        let holes = self.holes.map(|holes| Numbers::new("|b1", holes));
        (Numbers::new(self.kind, self.values).of_zone(self.zone), holes)
    }
}
