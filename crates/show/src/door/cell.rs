//! One value as people read it: local time with its offset, text that no terminal obeys, NULL in so many letters.

use datafusion::arrow::array::{Array, AsArray as _};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::{plain, time};

/// What stands for nothing.
pub(super) const NULL: &str = "NULL";

/// How the values of one column are written.
pub(super) struct Cells<'a> {
    column: &'a dyn Array,
    formatter: Option<ArrayFormatter<'a>>,
}

impl<'a> Cells<'a> {
    pub(super) fn of(column: &'a dyn Array) -> Cells<'a> {
        Cells { column, formatter: ArrayFormatter::try_new(column, &FormatOptions::default()).ok() }
    }

    /// The value in a row.
    pub(super) fn text(&self, row: usize) -> String {
        if self.column.is_null(row) {
            return NULL.to_owned();
        }
        if let Some(time) = self.time(row) {
            return time;
        }
        match self.column.data_type() {
            DataType::Float64 => float(self.column.as_primitive::<Float64Type>().value(row)),
            DataType::Float32 => float(self.column.as_primitive::<Float32Type>().value(row).into()),
            _ => {
                let text = self.formatter.as_ref().map(|all| all.value(row).to_string());
                plain::plain(text.unwrap_or_default().as_bytes()).into_owned()
            }
        }
    }

    /// A point in time, if it is one that has a zone.
    fn time(&self, row: usize) -> Option<String> {
        let DataType::Timestamp(unit, Some(_)) = self.column.data_type() else { return None };
        let column = self.column;
        let (value, a_second, digits) = match unit {
            TimeUnit::Second => (column.as_primitive::<TimestampSecondType>().value(row), 1, 0),
            TimeUnit::Millisecond => {
                (column.as_primitive::<TimestampMillisecondType>().value(row), 1_000, 3)
            }
            TimeUnit::Microsecond => {
                (column.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000, 6)
            }
            TimeUnit::Nanosecond => {
                (column.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000, 9)
            }
        };
        let second = value.div_euclid(a_second);
        let rest = value.rem_euclid(a_second);
        Some(time::local_with_part(second, rest, digits))
    }
}

/// Short, and the same number when read back.
fn float(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-4..1e15).contains(&size) || !value.is_finite() {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::Cells;
    use datafusion::arrow::array::{Array, Float64Array, Int64Array, StringArray};

    #[track_caller]
    fn shows(column: &dyn Array, want: &[&str]) {
        let cells = Cells::of(column);
        let found: Vec<String> = (0..column.len()).map(|row| cells.text(row)).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn nothing_is_not_an_empty_text() {
        shows(
            &StringArray::from(vec![Some(""), None, Some("a\x1b[2J")]),
            &["", "NULL", "a\\u{1b}[2J"],
        );
        shows(&Int64Array::from(vec![Some(-1), None]), &["-1", "NULL"]);
    }

    #[test]
    fn numbers_read_back_as_themselves() {
        let column = Float64Array::from(vec![0.0, 0.1, 1e300, -2.5e-9, 1_234_567.0, f64::NAN]);
        shows(&column, &["0", "0.1", "1e300", "-2.5e-9", "1234567", "NaN"]);
    }
}
