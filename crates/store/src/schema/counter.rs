//! One wide table for each module of counters: a row a record, with Darshan's names in lower case.

use netra_darshan::counter;
use netra_event::Module;

use super::Table;
use super::column::{Column, double, flag, long, longs, text, time};
use super::who::{about, join, place, who};

/// The modules, with the names and sentences of their tables.
const MODULES: &[(Module, &str, &str)] = &[
    (Module::Posix, "posix", "What one rank did to one file through POSIX calls."),
    (Module::Stdio, "stdio", "What one rank did to one file through C's streams."),
    (Module::Mpiio, "mpiio", "What one rank did to one file through MPI-IO."),
    (Module::H5f, "h5f", "What one rank did to one HDF5 file."),
    (Module::H5d, "h5d", "What one rank did to one HDF5 data set."),
    (Module::PnetcdfFile, "pnetcdf_file", "What one rank did to one PnetCDF file."),
    (Module::PnetcdfVar, "pnetcdf_var", "What one rank did to one PnetCDF variable."),
    (Module::Bgq, "bgq", "The Blue Gene/Q partition of a job."),
    (Module::Dfs, "dfs", "What one rank did to one file of a DAOS file system."),
    (Module::Daos, "daos", "What one rank did to one DAOS object."),
    (Module::Mdhim, "mdhim", "What one rank did to one MDHIM store."),
    (Module::Apmpi, "apmpi", "MPI communication of one rank."),
    (Module::Apxc, "apxc", "Router counters of one blade of a Cray XC."),
];

/// The table of a module's records; none for modules that are not made of counters.
#[must_use]
pub fn name_of(module: Module) -> Option<&'static str> {
    MODULES.iter().find(|row| row.0 == module).map(|row| row.1)
}

pub(super) fn tables() -> impl Iterator<Item = Table> {
    MODULES.iter().map(|&(module, name, doc)| Table {
        name,
        doc,
        columns: columns(module),
        sort: &["job", "rank", "file_id"],
        time: "t",
        once: &["process", "file_id"],
        is_rollup: false,
    })
}

fn columns(module: Module) -> Vec<Column> {
    let when = vec![
        time("t", "When the job's recording began: the counters' times count from here."),
        long("process", "", "The process's name for ever; null for imported records.").or_null(),
    ];
    join([who(), place(), when, about(), numbers(module), extra(module)])
}

/// The counters themselves.
fn numbers(module: Module) -> Vec<Column> {
    let table = counter::current(module);
    let (ints, floats) = table.map_or((&[][..], &[][..]), |table| (table.int, table.float));
    let ints = ints.iter().map(|&name| int(name));
    let floats = floats.iter().map(|&name| float(name));
    let mut columns: Vec<Column> = ints.chain(floats).collect();
    match module {
        Module::Apmpi => {
            let more = counter::apmpi::SYNC.iter().chain(&counter::apmpi::GLOBAL);
            columns.extend(more.map(|&name| float(name)));
        }
        Module::Apxc => {
            let place = ["apxc_group", "apxc_chassis", "apxc_blade", "apxc_node"];
            columns.extend(place.iter().map(|&name| int(name)));
            let names =
                (0..counter::apxc::COUNT).map(|index| counter::apxc::Name(index).to_string());
            columns.extend(names.map(|name| int(&name)));
        }
        _ => {}
    }
    columns
}

/// A whole number; counters come and go with versions of the format, so that it may be missing.
fn int(name: &str) -> Column {
    let unit = if name.contains("BYTE") && !name.contains("RANK") { "bytes" } else { "" };
    long(&name.to_ascii_lowercase(), unit, &format!("Darshan's counter {name}.")).or_null()
}

fn float(name: &str) -> Column {
    let unit = if name.contains("VARIANCE") { "" } else { "s" };
    double(&name.to_ascii_lowercase(), unit, &format!("Darshan's counter {name}.")).or_null()
}

/// What some modules have besides.
fn extra(module: Module) -> Vec<Column> {
    let uuid = || {
        vec![
            text("pool", "UUID of the pool.").or_null(),
            text("container", "UUID of the container.").or_null(),
        ]
    };
    match module {
        Module::H5d | Module::PnetcdfVar => vec![
            text("object", "Name of the data set or variable; file is the file it is in.")
                .or_null(),
            long("in_file_id", "", "Record id of the file that it is in.").or_null(),
        ],
        Module::Dfs => uuid(),
        Module::Daos => {
            let mut columns = uuid();
            columns.push(long("object_high", "", "High half of the object's id.").or_null());
            columns.push(long("object_low", "", "Low half of the object's id.").or_null());
            columns
        }
        Module::Mdhim => vec![longs("servers", "Operations of each server.").or_null()],
        Module::Apmpi => vec![
            flag("sync", "Whether the time spent waiting in collective calls was taken.").or_null(),
            double("variance_total", "s²", "Variance over ranks of the time in MPI.").or_null(),
            double("variance_sync", "s²", "Variance over ranks of the time waiting.").or_null(),
            longs("head", "Record id and rank of what precedes the records of the log.").or_null(),
        ],
        Module::Apxc => vec![
            longs("machine", "Blades, chassis, groups, memory mode, cluster mode, application id.")
                .or_null(),
            longs("head", "Record id and rank of what precedes the records of the log.").or_null(),
        ],
        _ => Vec::new(),
    }
}
