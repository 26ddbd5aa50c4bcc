//! Columns as numpy takes them: it looks at our memory, keeps it as long as it needs it, and may write there.

use std::sync::Mutex;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::cell;

/// A column: its name, its numbers, which of them are holes (none without it), and what the numbers stand for
/// (themselves without it; −1 is a hole then).
pub(crate) type Named = (String, Py<Numbers>, Option<Py<Numbers>>, Option<Py<PyList>>);

/// Numbers that `numpy.asarray` takes without a copy, through numpy's array interface. (The buffer protocol would
/// need Python 3.11 in a wheel that is for all versions.)
#[pyclass(frozen, module = "netra")]
pub(crate) struct Numbers {
    /// How numpy calls the type.
    kind: &'static str,
    address: usize,
    count: usize,
    /// Where times are at home, if these are times that say so.
    zone: Option<String>,
    /// The memory itself. Nobody here looks at it again: who has the array may write into it.
    _kept: Mutex<Box<dyn Send>>,
}

#[pymethods]
impl Numbers {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let says = PyDict::new(py);
        says.set_item("version", 3)?;
        says.set_item("typestr", self.kind)?;
        says.set_item("shape", (self.count,))?;
        says.set_item("data", (self.address, false))?;
        Ok(says)
    }

    #[getter]
    fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }
}

impl Numbers {
    pub(crate) fn new<T: Send + 'static>(kind: &'static str, mut values: Vec<T>) -> Numbers {
        let address = values.as_mut_ptr() as usize;
        let count = values.len();
        Numbers { kind, address, count, zone: None, _kept: Mutex::new(Box::new(values)) }
    }

    pub(crate) fn of_zone(self, zone: Option<String>) -> Numbers {
        Numbers { zone, ..self }
    }
}

/// Takes a batch apart.
pub(crate) fn columns(py: Python<'_>, batch: RecordBatch) -> PyResult<Vec<Named>> {
    let (schema, arrays, _) = batch.into_parts();
    let mut columns = Vec::with_capacity(arrays.len());
    for (field, array) in schema.fields().iter().zip(arrays) {
        let name = field.name().clone();
        columns.push(match field.data_type() {
            DataType::Int64 => numbers::<Int64Type>(py, name, "<i8", array)?,
            DataType::UInt64 => numbers::<UInt64Type>(py, name, "<u8", array)?,
            DataType::Float64 => numbers::<Float64Type>(py, name, "<f8", array)?,
            DataType::Dictionary(_, _) => labels(py, name, array)?,
            other => {
                return Err(PyTypeError::new_err(format!("{name}: no log has values of {other}")));
            }
        });
    }
    Ok(columns)
}

fn numbers<T: ArrowPrimitiveType>(
    py: Python<'_>,
    name: String,
    kind: &'static str,
    array: ArrayRef,
) -> PyResult<Named> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let holes = nulls.map(|nulls| match nulls.len() {
        // Many a column has nothing else.
        all if all == nulls.null_count() => vec![true; all],
        _ => nulls.iter().map(|is| !is).collect(),
    });
    let holes = holes.map(|holes| Py::new(py, Numbers::new("|b1", holes))).transpose()?;
    let values = Numbers::new(kind, owned(array.as_primitive::<T>().clone(), array));
    Ok((name, Py::new(py, values)?, holes, None))
}

/// The values without a copy, where nobody else has them.
fn owned<T: ArrowPrimitiveType>(array: PrimitiveArray<T>, other: ArrayRef) -> Vec<T::Native> {
    drop(other);
    let (_, values, _) = array.into_parts();
    values.into_inner().into_vec().unwrap_or_else(|shared| shared.typed_data().to_vec())
}

fn labels(py: Python<'_>, name: String, array: ArrayRef) -> PyResult<Named> {
    let texts = PyList::empty(py);
    cell::append(&texts, array.as_any_dictionary().values())?;
    let keys = array.as_any_dictionary().keys().slice(0, array.len());
    drop(array);
    let codes = match keys.data_type() {
        DataType::Int8 => codes::<Int8Type>("|i1", keys),
        DataType::Int16 => codes::<Int16Type>("<i2", keys),
        _ => codes::<Int32Type>("<i4", keys),
    };
    Ok((name, Py::new(py, codes)?, None, Some(texts.unbind())))
}

fn codes<T: ArrowPrimitiveType>(kind: &'static str, keys: ArrayRef) -> Numbers
where
    T::Native: From<i8>,
{
    let holes = keys.nulls().cloned();
    let mut codes = owned(keys.as_primitive::<T>().clone(), keys);
    for (code, is) in codes.iter_mut().zip(holes.iter().flat_map(|nulls| nulls.iter())) {
        if !is {
            *code = T::Native::from(-1);
        }
    }
    Numbers::new(kind, codes)
}
