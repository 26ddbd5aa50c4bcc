//! Comment lines that explain columns and counters.

use super::page::Page;
use netra_event::Module;
use std::io;

pub(super) const COLUMNS: &str = "
# description of columns:
#   <module>: the layer that counted
#   <rank>: the process; -1 where all processes share the record
#   <record id>: hash of the name
#   <counter>: what was counted
#   <value>: how much; -1 where it was not monitored
#   <file name>: the path, or what else the record is about
#   <mount pt>: where its file system is mounted
#   <fs type>: what its file system is
";

const STARS: &str = "# *******************************************************\n";

const HEADINGS: &str =
    "\n#<module>\t<rank>\t<record id>\t<counter>\t<value>\t<file name>\t<mount pt>\t<fs type>\n";

/// The title of a module, a warning if it is incomplete, and what its counters mean.
pub(super) fn module(
    module: Module,
    partial: bool,
    base: bool,
    page: &mut Page<'_>,
) -> io::Result<()> {
    page.text("\n")?;
    page.text(STARS)?;
    page.line(format_args!("# {module} module data"))?;
    page.text(STARS)?;
    if partial {
        incomplete(module, page)?;
    }
    page.line(format_args!("\n# description of {module} counters:"))?;
    page.text(meaning(module))?;
    if base {
        page.text(HEADINGS)?;
    }
    Ok(())
}

/// The title of a module that only the netra section knows.
pub(super) fn own(module: &str, page: &mut Page<'_>) -> io::Result<()> {
    page.text("\n")?;
    page.text(STARS)?;
    page.line(format_args!("# {module} module data (netra's own section)"))?;
    page.text(STARS)?;
    page.text(HEADINGS)
}

pub(super) fn incomplete(module: Module, page: &mut Page<'_>) -> io::Result<()> {
    page.line(format_args!(
        "\n# *WARNING*: the {module} module ran out of memory in the application: records are missing."
    ))
}

const DATA: &str = "\
#   BYTES_*: bytes read and written
#   RW_SWITCHES: changes between reading and writing
#   SIZE_*: calls by size, the last bin without a bound
#   MAX_*_TIME_SIZE: size of the slowest read and write
#   ACCESSn_*: the four most common sizes and how often they came
#   FASTEST_*, SLOWEST_*: rank, bytes and seconds of the fastest and the slowest process (shared files)
#   F_*_START_TIMESTAMP, F_*_END_TIMESTAMP: first and last time, in seconds since the job's start
#   F_READ_TIME, F_WRITE_TIME, F_META_TIME: seconds spent
#   F_MAX_*_TIME: seconds of the slowest read and write
#   F_VARIANCE_*: variance over ranks of seconds and bytes (shared files)
";

fn meaning(module: Module) -> String {
    let own = match module {
        Module::Posix => {
            "\
#   OPENS, READS, WRITES, SEEKS, STATS, MMAPS, FSYNCS, FDSYNCS: calls; OPENS includes FILENOS and DUPS
#   RENAME_*: renames from and to this file, and the record it was renamed from
#   MODE: permissions it was opened with
#   MAX_BYTE_*: highest offset read and written
#   CONSEC_*, SEQ_*: calls right behind the one before, and anywhere behind it
#   *_NOT_ALIGNED, *_ALIGNMENT: calls off the alignment, and the alignment
#   STRIDEn_*: the four most common strides and how often they came
"
        }
        Module::Mpiio => {
            "\
#   INDEP_*, COLL_*, SPLIT_*, NB_*: independent, collective, split collective, non-blocking calls
#   SYNCS, HINTS, VIEWS: calls that synchronise, give hints, set views
#   MODE: access mode of the last open
"
        }
        Module::Stdio => {
            "\
#   OPENS, READS, WRITES, SEEKS, FLUSHES: calls; OPENS includes FDOPENS
#   MAX_BYTE_*: highest offset read and written
"
        }
        Module::H5f => {
            return "\
#   OPENS, FLUSHES: calls
#   USE_MPIIO: whether the file was opened through MPI-IO
#   F_*_TIMESTAMP, F_META_TIME: first and last time, and seconds spent on metadata
"
            .into();
        }
        Module::H5d => {
            "\
#   OPENS, READS, WRITES, FLUSHES: calls
#   *_SELECTS: calls by kind of selection
#   ACCESSn_LENGTH_*, ACCESSn_STRIDE_*: shape of the most common accesses, five dimensions
#   DATASPACE_*, DATATYPE_SIZE, CHUNK_SIZE_*: shape of the data set
#   USE_*: collective transfers, deprecated calls
#   FILE_REC_ID: the record of the file it lies in
"
        }
        Module::PnetcdfFile => {
            return "\
#   CREATES, OPENS, REDEFS, INDEP_WAITS, COLL_WAITS, SYNCS, WAIT_FAILURES: calls
#   BYTES_*: bytes read and written
#   F_*_TIMESTAMP, F_*_TIME: first and last times, and seconds spent
"
            .into();
        }
        Module::PnetcdfVar => {
            "\
#   OPENS, INDEP_*, COLL_*, NB_*: calls
#   PUT_*, GET_*, IPUT_*, IGET_*, BPUT_*: calls by kind
#   ACCESSn_LENGTH_*, ACCESSn_STRIDE_*: shape of the most common accesses, five dimensions
#   NDIMS, NPOINTS, DATATYPE_SIZE, IS_RECORD_VAR: shape of the variable
#   FILE_REC_ID: the record of the file it lies in
"
        }
        Module::Dfs => {
            "\
#   OPENS, LOOKUPS, READS, WRITES and so on: calls of the DAOS file system
#   CHUNK_SIZE: bytes of a chunk
"
        }
        Module::Daos => {
            "\
#   OBJ_*, ARRAY_*, KV_*: calls on objects, arrays and key-value stores
#   OBJ_OTYPE, ARRAY_CELL_SIZE, ARRAY_CHUNK_SIZE: the object's kind and shape
"
        }
        Module::Lustre => {
            return "\
#   NUM_COMPONENTS, NUM_STRIPES: parts of the layout, and targets of all of them
#   COMPn_*: size, number and pattern of stripes, flags, extent, mirror, pool and targets of a part
"
            .into();
        }
        Module::Heatmap => {
            return "\
#   F_BIN_WIDTH_SECONDS: how long a bin is
#   READ_BIN_n, WRITE_BIN_n: bytes moved in a bin
"
            .into();
        }
        Module::Bgq => "#   nodes, torus and job of the Blue Gene/Q partition\n",
        Module::Mdhim => "#   puts, gets, their largest sizes, and operations of each server\n",
        Module::Apmpi => "#   calls, bytes, message sizes and seconds of each MPI operation\n",
        Module::Null | Module::DxtPosix | Module::DxtMpiio | Module::Apxc => "",
    };
    let moves_data = crate::reduce::rule::Rules::of(module).is_some_and(|r| r.ranking.is_some());
    if moves_data { format!("{own}{DATA}") } else { own.into() }
}
