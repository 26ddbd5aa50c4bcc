//! `processes`: a row for each process whose record is complete.

use super::Table;
use super::column::{long, text, time};
use super::who::{about, join, who};

pub(super) fn table() -> Table {
    let own = vec![
        time("t", "When its recording began."),
        time("end", "When its recording ended; null while it runs.").or_null(),
        text("state", "What became of it: running, ended, replaced (exec) or killed."),
        long("pid", "", "Number of the process."),
        long("process", "", "Its name for ever: a hash of host, start and number."),
        long("job_id", "", "Number of the job as Darshan's logs have it."),
        long("nprocs", "", "Processes of its job, if it knew.").or_null(),
        text("command", "Command line."),
        text("mpi", "The MPI library's kind, if there was one.").or_null(),
        text("platform", "What its node and allocation are, a line key=value each.").or_null(),
        text("notes", "What the library complained about, a line each.").or_null(),
        text("source", "Where the row is from: stream, segment or log."),
    ];
    Table {
        name: "processes",
        doc: "A process of a job.",
        columns: join([who(), own, about()]),
        sort: &["job", "rank", "t"],
        time: "t",
        once: &["process"],
        is_rollup: false,
    }
}
