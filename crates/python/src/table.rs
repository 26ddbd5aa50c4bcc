//! A table that Python holds: it knows how to be read, and is read anew by whoever takes it.

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::feed::Feed;
use crate::scan::Scan;

/// A table, not yet read.
#[pyclass(frozen, module = "netra")]
pub(crate) struct Table {
    scan: Scan,
}

impl Table {
    pub(crate) fn new(scan: Scan) -> Table {
        Table { scan }
    }

    fn feed(&self) -> PyResult<Feed> {
        Ok(Feed::start(self.scan.clone())?)
    }
}

#[pymethods]
impl Table {
    /// Arrow's C stream interface: pyarrow, Polars, DuckDB and pandas read tables through it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to answer with one's own schema.
        drop(requested_schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(self.feed()?));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Arrow's C schema interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.scan.schema().as_ref())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.scan.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are. Reads the table.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        let mut feed = self.feed()?;
        let mut rows = 0;
        while let Some(batch) = py.detach(|| feed.next()) {
            rows += whole(batch)?.num_rows();
            py.check_signals()?;
        }
        Ok(rows)
    }

    /// Each column as a list, with nothing but Python.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = self.columns();
        let lists: Vec<Bound<'py, PyList>> = names.iter().map(|_| PyList::empty(py)).collect();
        let mut feed = self.feed()?;
        while let Some(batch) = py.detach(|| feed.next()) {
            let batch = whole(batch)?;
            for (list, column) in lists.iter().zip(batch.columns()) {
                append(list, column)?;
            }
            py.check_signals()?;
        }
        let dict = PyDict::new(py);
        for (name, list) in names.iter().zip(lists) {
            dict.set_item(name, list)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!("<netra table: {}>", self.columns().join(", "))
    }
}

fn whole(batch: Result<RecordBatch, arrow_schema::ArrowError>) -> PyResult<RecordBatch> {
    batch.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn append(list: &Bound<'_, PyList>, column: &dyn Array) -> PyResult<()> {
    match column.data_type() {
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().iter().try_for_each(|value| list.append(value))
        }
        DataType::UInt64 => {
            column.as_primitive::<UInt64Type>().iter().try_for_each(|value| list.append(value))
        }
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().iter().try_for_each(|value| list.append(value))
        }
        _ => {
            let labels = column.as_dictionary::<Int32Type>();
            let texts = labels.values().as_string::<i32>();
            labels.keys().iter().try_for_each(|key| {
                list.append(key.map(|key| texts.value(key.unsigned_abs() as usize)))
            })
        }
    }
}
