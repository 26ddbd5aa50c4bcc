//! The module behind the Python package `netra`: logs as tables that speak Arrow's C stream interface,
//! so that pandas, Polars, DuckDB and pyarrow take them without a copy.
//!
//! `log` opens, `scan` turns records into columns, `feed` does so in a thread of its own while the
//! consumer works, `patience` waits for what comes in one piece, `table` is what Python holds. What a table says is decided by the crates below;
//! nothing is computed here, and Python code (`python/netra`) only makes it convenient.
#![deny(unsafe_code)]

mod asked;
mod cell;
mod column;
mod error;
mod feed;
mod frame;
mod gather;
mod log;
mod patience;
mod progress;
mod scan;
mod sheet;
mod table;

use pyo3::prelude::*;

/// What the package takes in.
#[pymodule(name = "_netra")]
mod module {
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::frame::Numbers;
    #[pymodule_export]
    use super::log::Log;
    #[pymodule_export]
    use super::table::Table;
}
