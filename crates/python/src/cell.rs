//! Values as Python has them, for those who have nothing but Python.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use pyo3::IntoPyObject;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Appends the values of a column to a list. Points in time become `datetime`, to the microsecond.
pub(crate) fn append(list: &Bound<'_, PyList>, column: &dyn Array) -> PyResult<()> {
    match column.data_type() {
        DataType::Null => (0..column.len()).try_for_each(|_| list.append(list.py().None())),
        DataType::Boolean => column.as_boolean().iter().try_for_each(|value| list.append(value)),
        DataType::Int8 => numbers(list, column.as_primitive::<Int8Type>()),
        DataType::Int16 => numbers(list, column.as_primitive::<Int16Type>()),
        DataType::Int32 => numbers(list, column.as_primitive::<Int32Type>()),
        DataType::Int64 => numbers(list, column.as_primitive::<Int64Type>()),
        DataType::UInt8 => numbers(list, column.as_primitive::<UInt8Type>()),
        DataType::UInt16 => numbers(list, column.as_primitive::<UInt16Type>()),
        DataType::UInt32 => numbers(list, column.as_primitive::<UInt32Type>()),
        DataType::UInt64 => numbers(list, column.as_primitive::<UInt64Type>()),
        DataType::Float32 => numbers(list, column.as_primitive::<Float32Type>()),
        DataType::Float64 => numbers(list, column.as_primitive::<Float64Type>()),
        DataType::Utf8 => texts(list, column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => texts(list, column.as_string::<i64>().iter()),
        DataType::Utf8View => texts(list, column.as_string_view().iter()),
        DataType::Binary => bytes(list, column.as_binary::<i32>().iter()),
        DataType::LargeBinary => bytes(list, column.as_binary::<i64>().iter()),
        DataType::BinaryView => bytes(list, column.as_binary_view().iter()),
        DataType::Timestamp(unit, zone) => times(list, column, *unit, zone.is_some()),
        DataType::Date32 => {
            let days = column.as_primitive::<Date32Type>().iter();
            let first = list.py().import("datetime")?.getattr("date")?.call1((1970, 1, 1))?;
            after(list, &first, days.map(|day| day.map(|day| (i64::from(day), 0))))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            let zero = list.py().import("datetime")?.getattr("timedelta")?.call0()?;
            let spans = column.as_primitive::<DurationMicrosecondType>().iter();
            after(list, &zero, spans.map(|span| span.map(|span| (0, span))))
        }
        DataType::List(_) => {
            let all = column.as_list::<i32>();
            all.iter().try_for_each(|row| match row {
                None => list.append(list.py().None()),
                Some(row) => {
                    let inner = PyList::empty(list.py());
                    append(&inner, &*row)?;
                    list.append(inner)
                }
            })
        }
        DataType::Dictionary(_, _) => labels(list, column),
        other => Err(PyTypeError::new_err(format!(
            "to_dict() does not know values of type {other}; to_pyarrow() takes all"
        ))),
    }
}

fn numbers<'py, T>(list: &Bound<'py, PyList>, column: &PrimitiveArray<T>) -> PyResult<()>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
{
    column.iter().try_for_each(|value| list.append(value))
}

fn texts<'a>(
    list: &Bound<'_, PyList>,
    mut all: impl Iterator<Item = Option<&'a str>>,
) -> PyResult<()> {
    all.try_for_each(|text| list.append(text))
}

fn bytes<'a>(
    list: &Bound<'_, PyList>,
    mut all: impl Iterator<Item = Option<&'a [u8]>>,
) -> PyResult<()> {
    all.try_for_each(|bytes| list.append(bytes.map(|bytes| PyBytes::new(list.py(), bytes))))
}

/// Each different text is made once.
fn labels(list: &Bound<'_, PyList>, column: &dyn Array) -> PyResult<()> {
    let labels = column.as_any_dictionary();
    let known = PyList::empty(list.py());
    append(&known, labels.values())?;
    if labels.values().is_empty() {
        // Every row is without a value, and there are no keys to ask for.
        return (0..column.len()).try_for_each(|_| list.append(list.py().None()));
    }
    for (row, key) in labels.normalized_keys().into_iter().enumerate() {
        if column.is_null(row) {
            list.append(list.py().None())?;
        } else {
            list.append(known.get_item(key)?)?;
        }
    }
    Ok(())
}

/// Points in time, in UTC where the column says where it is.
fn times(
    list: &Bound<'_, PyList>,
    column: &dyn Array,
    unit: TimeUnit,
    is_absolute: bool,
) -> PyResult<()> {
    let module = list.py().import("datetime")?;
    let zone = match is_absolute {
        true => module.getattr("timezone")?.getattr("utc")?,
        false => list.py().None().into_bound(list.py()),
    };
    let first = module.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
    let spans: Vec<Option<(i64, i64)>> = match unit {
        TimeUnit::Second => spans(column.as_primitive::<TimestampSecondType>(), 1),
        TimeUnit::Millisecond => spans(column.as_primitive::<TimestampMillisecondType>(), 1_000),
        TimeUnit::Microsecond => {
            spans(column.as_primitive::<TimestampMicrosecondType>(), 1_000_000)
        }
        TimeUnit::Nanosecond => {
            spans(column.as_primitive::<TimestampNanosecondType>(), 1_000_000_000)
        }
    };
    after(list, &first, spans.into_iter())
}

/// Days and microseconds of points in time of which `each` make a second.
fn spans<T: ArrowPrimitiveType<Native = i64>>(
    column: &PrimitiveArray<T>,
    each: i64,
) -> Vec<Option<(i64, i64)>> {
    let day = 86_400 * each;
    let span = |time: i64| {
        let rest = i128::from(time.rem_euclid(day)) * 1_000_000 / i128::from(each);
        (time.div_euclid(day), i64::try_from(rest).unwrap_or_default())
    };
    column.iter().map(|time| time.map(span)).collect()
}

/// So many days and microseconds after something.
fn after<'py>(
    list: &Bound<'py, PyList>,
    first: &Bound<'py, PyAny>,
    mut spans: impl Iterator<Item = Option<(i64, i64)>>,
) -> PyResult<()> {
    let delta = list.py().import("datetime")?.getattr("timedelta")?;
    spans.try_for_each(|span| match span {
        None => list.append(list.py().None()),
        Some((days, micros)) => list.append(first.add(delta.call1((days, 0, micros))?)?),
    })
}
