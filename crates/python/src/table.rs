//! A table that Python holds: it knows how to be read, and is read anew by whoever takes it.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::asked::{Asked, Way};
use crate::cell::append;
use crate::feed::Feed;
use crate::frame::{self, Named};
use crate::gather::Columns;
use crate::progress::Progress;
use crate::scan::{Cut, Scan};

/// Whom to tell how far it is, if somebody wants to know.
type Told<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Where rows come from.
enum Origin {
    /// A log, read anew each time.
    Scan(Scan),
    /// Somebody who is asked anew each time.
    Asked(Asked),
    /// They are here.
    Held(Vec<RecordBatch>, SchemaRef),
}

/// A table, not yet read.
#[pyclass(frozen, module = "netra")]
pub(crate) struct Table {
    origin: Origin,
}

impl Table {
    pub(crate) fn new(scan: Scan) -> Table {
        Table { origin: Origin::Scan(scan) }
    }

    fn schema(&self) -> SchemaRef {
        match &self.origin {
            Origin::Scan(scan) => scan.schema(),
            Origin::Asked(asked) => asked.schema.clone(),
            Origin::Held(_, schema) => schema.clone(),
        }
    }

    /// All batches, while Ctrl-C gets through; those of a log are cut as it is said, and `told` is called with the
    /// share that is read.
    fn each(
        &self,
        py: Python<'_>,
        cut: Cut,
        told: Told<'_, '_>,
        mut take: impl FnMut(RecordBatch) -> PyResult<()>,
    ) -> PyResult<()> {
        let progress = Arc::new(Progress::default());
        let mut feed = match &self.origin {
            Origin::Scan(scan) => start(scan, cut, &progress)?,
            Origin::Asked(asked) => asked.feed(py)?,
            Origin::Held(batches, _) => return batches.iter().cloned().try_for_each(take),
        };
        let told = told.filter(|_| matches!(self.origin, Origin::Scan(_)));
        let mut tell = || told.map_or(Ok(()), |told| told.call1((progress.share(),)).map(drop));
        while let Some(batch) = feed.next_for(py, &mut tell)? {
            take(batch)?;
            tell()?;
        }
        Ok(())
    }
}

fn start(scan: &Scan, cut: Cut, progress: &Arc<Progress>) -> PyResult<Feed> {
    let (scan, progress) = (scan.clone(), Arc::clone(progress));
    Ok(Feed::start(scan.schema(), None, move |outlet| scan.run(outlet, cut, &progress))?)
}

#[pymethods]
impl Table {
    /// The rows that a program writes to its standard output.
    #[staticmethod]
    fn of_program(py: Python<'_>, program: String, arguments: Vec<String>) -> PyResult<Table> {
        let asked = Asked::new(py, Way::Program(program, arguments))?;
        Ok(Table { origin: Origin::Asked(asked) })
    }

    /// The rows that a server sends; the function asks it, and gives what can be read from.
    #[staticmethod]
    fn of_server(py: Python<'_>, ask: Py<PyAny>) -> PyResult<Table> {
        Ok(Table { origin: Origin::Asked(Asked::new(py, Way::Server(ask))?) })
    }

    /// The same with all rows in memory, read while Ctrl-C gets through. Whoever takes it copies nothing.
    #[pyo3(signature = (told=None))]
    fn gathered(&self, py: Python<'_>, told: Told<'_, '_>) -> PyResult<Table> {
        let mut batches = Vec::new();
        self.each(py, Cut::Never, told, |batch| {
            batches.push(batch);
            Ok(())
        })?;
        Ok(Table { origin: Origin::Held(batches, self.schema()) })
    }

    /// The number of rows and the columns for numpy, which takes them as they are; nothing of a table that somebody
    /// else makes, and that has something else than numbers and times.
    #[pyo3(signature = (told=None))]
    fn frame(&self, py: Python<'_>, told: Told<'_, '_>) -> PyResult<Option<(usize, Vec<Named>)>> {
        if let Origin::Asked(asked) = &self.origin {
            let Some(mut columns) = Columns::begin(&asked.schema) else { return Ok(None) };
            self.each(py, Cut::Often, None, |batch| {
                py.detach(|| columns.take(&batch));
                Ok(())
            })?;
            return columns.end(py).map(Some);
        }
        let Origin::Scan(_) = &self.origin else { return Ok(None) };
        let mut whole = None;
        self.each(py, Cut::Narrow, told, |batch| {
            whole = Some(batch);
            Ok(())
        })?;
        whole.map(|batch| Ok((batch.num_rows(), frame::columns(py, batch)?))).transpose()
    }

    /// Arrow's C stream interface: pyarrow, Polars, DuckDB and pandas read tables through it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to answer with one's own schema.
        drop(requested_schema);
        let reader: Box<dyn RecordBatchReader + Send> = match &self.origin {
            Origin::Scan(scan) => Box::new(start(scan, Cut::Often, &Arc::default())?),
            Origin::Asked(asked) => Box::new(asked.feed(py)?),
            Origin::Held(batches, schema) => {
                let batches = batches.clone().into_iter().map(Ok);
                Box::new(RecordBatchIterator::new(batches, schema.clone()))
            }
        };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// Arrow's C schema interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema().as_ref())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are. Reads the table.
    #[pyo3(signature = (told=None))]
    fn count(&self, py: Python<'_>, told: Told<'_, '_>) -> PyResult<usize> {
        let mut rows = 0;
        self.each(py, Cut::Often, told, |batch| {
            rows += batch.num_rows();
            Ok(())
        })?;
        Ok(rows)
    }

    /// Each column as a list, with nothing but Python.
    #[pyo3(signature = (told=None))]
    fn to_dict<'py>(&self, py: Python<'py>, told: Told<'_, 'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = self.columns();
        let lists: Vec<Bound<'py, PyList>> = names.iter().map(|_| PyList::empty(py)).collect();
        self.each(py, Cut::Often, told, |batch| {
            let mut columns = lists.iter().zip(batch.columns());
            columns.try_for_each(|(list, column)| append(list, column))
        })?;
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
