//! An open log, or several as one.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use netra_analyse::{Thresholds, diagnose};
use netra_event::Module;
use netra_show::{info, load, report};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::error::{Error, about};
use crate::patience;
use crate::scan::{Scan, Source, Subject};
use crate::sheet::Shape;
use crate::table::Table;

/// One log or several. Nothing is read but what opening needs; tables read when they are asked.
#[pyclass(frozen, module = "netra")]
pub(crate) struct Log {
    sources: Arc<[Arc<Source>]>,
}

#[pymethods]
impl Log {
    /// Opens logs, all of them or none.
    #[staticmethod]
    fn open(py: Python<'_>, paths: Vec<String>) -> PyResult<Log> {
        if paths.is_empty() {
            return Err(PyValueError::new_err("no log was named"));
        }
        let many = paths.len() > 16;
        let mut sources = Vec::with_capacity(paths.len());
        for path in paths {
            // Thousands of logs must not need thousands of descriptors.
            let log = py.detach(|| {
                if many {
                    netra_darshan::Log::open_on_demand(&path)
                } else {
                    netra_darshan::Log::open(&path)
                }
            });
            let log = log.map_err(|error| about(&path, &error))?;
            sources.push(Arc::new(Source { path, log }));
            py.check_signals()?;
        }
        Ok(Log { sources: sources.into() })
    }

    /// What the logs are called.
    #[getter]
    fn paths(&self) -> Vec<&str> {
        self.sources.iter().map(|source| source.path.as_str()).collect()
    }

    /// The modules that have something in any of the logs.
    #[getter]
    fn modules(&self) -> Vec<&'static str> {
        let there = |module: &&Module| {
            self.sources.iter().any(|source| source.log.modules().any(|one| one == **module))
        };
        Module::ALL.iter().filter(there).map(|module| module.name()).collect()
    }

    /// What `netra info --format json` says, of each log.
    fn info_json(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.each(py, |source| {
            let mut out = Vec::new();
            info::Info::gather(&source.path, &source.log).json(&mut out)?;
            Ok(out)
        })
    }

    /// What `netra report --json` says, of each log.
    fn report_json(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.each(py, |source| {
            let (job, _) = load::job(&source.path, &source.log);
            let limits = Thresholds::default();
            let found = diagnose(&job, &limits, &BTreeSet::new());
            let mut out = Vec::new();
            report::json(&mut out, &source.path, &found, &limits)?;
            Ok(out)
        })
    }

    /// The counters of a module: a row a record.
    #[pyo3(signature = (module, ranks=None, columns=None))]
    fn counters(
        &self,
        py: Python<'_>,
        module: &str,
        ranks: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Table> {
        let module = known(module)?;
        if matches!(module, Module::DxtPosix | Module::DxtMpiio) {
            let says = format!("{module} is a trace: ask for it with dxt({:?})", module.name());
            return Err(PyValueError::new_err(says));
        }
        self.table(py, Subject::Counters(module), ranks, columns)
    }

    /// The trace of a layer: a row a read or write.
    #[pyo3(signature = (module, ranks=None, columns=None))]
    fn dxt(
        &self,
        py: Python<'_>,
        module: &str,
        ranks: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Table> {
        let module = match module {
            "POSIX" | "DXT_POSIX" => Module::DxtPosix,
            "MPI-IO" | "MPIIO" | "DXT_MPIIO" => Module::DxtMpiio,
            _ => {
                let says = format!("{module:?} has no trace; POSIX and MPI-IO can have one");
                return Err(PyKeyError::new_err(says));
            }
        };
        self.table(py, Subject::Segments(module), ranks, columns)
    }

    /// netra's own trace: a row a call.
    #[pyo3(signature = (ranks=None, columns=None))]
    fn trace(
        &self,
        py: Python<'_>,
        ranks: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Table> {
        self.table(py, Subject::Calls, ranks, columns)
    }

    /// Bytes over time: a row a layer, process and bin.
    #[pyo3(signature = (ranks=None, columns=None))]
    fn heatmap(
        &self,
        py: Python<'_>,
        ranks: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Table> {
        self.table(py, Subject::Heatmap, ranks, columns)
    }

    /// The names of records.
    #[pyo3(signature = (columns=None))]
    fn names(&self, py: Python<'_>, columns: Option<Vec<String>>) -> PyResult<Table> {
        self.table(py, Subject::Names, None, columns)
    }

    fn __repr__(&self) -> String {
        match &*self.sources {
            [one] => format!("<netra log {}: {}>", one.path, self.modules().join(", ")),
            many => format!("<{} netra logs: {}>", many.len(), self.modules().join(", ")),
        }
    }
}

impl Log {
    fn table(
        &self,
        py: Python<'_>,
        subject: Subject,
        ranks: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Table> {
        let sources = self.sources.clone();
        let heads = patience::wait(py, move |_| subject.heads(&sources))?;
        let sources = self.sources.clone();
        let shape = Shape::new(&heads, columns.as_deref()).map_err(|name| {
            let known: Vec<&str> = heads.iter().map(|head| head.name.as_str()).collect();
            PyKeyError::new_err(format!(
                "there is no column {name:?}; columns are {}",
                known.join(", ")
            ))
        })?;
        let ranks = ranks.map(|ranks| Arc::new(ranks.into_iter().collect::<HashSet<i64>>()));
        Ok(Table::new(Scan { sources, subject, shape, ranks }))
    }

    /// A text about each log, made without holding Python up.
    fn each(
        &self,
        py: Python<'_>,
        say: impl Fn(&Source) -> std::io::Result<Vec<u8>> + Send + 'static,
    ) -> PyResult<Vec<String>> {
        let sources = self.sources.clone();
        patience::wait(py, move |is_wanted| {
            let mut texts = Vec::new();
            for source in sources.iter().take_while(|_| is_wanted()) {
                let bytes = say(source).map_err(|error| format!("{}: {error}", source.path))?;
                texts.push(String::from_utf8_lossy(&bytes).into_owned());
            }
            Ok(texts)
        })?
        .map_err(|says: String| Error::new_err(says))
    }
}

fn known(name: &str) -> PyResult<Module> {
    Module::from_name(name).ok_or_else(|| {
        let all: Vec<&str> = Module::ALL.iter().map(|module| module.name()).collect();
        PyKeyError::new_err(format!("there is no module {name:?}; modules are {}", all.join(", ")))
    })
}
