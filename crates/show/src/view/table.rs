//! The tables that views can ask, and their columns. `web/src/facts.ts` fills them by these names.

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in queries.
    pub name: &'static str,
    /// Whether it holds text rather than numbers.
    pub text: bool,
}

/// A table of facts.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name in queries.
    pub name: &'static str,
    /// What a row is.
    pub says: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
}

const fn text(name: &'static str) -> Column {
    Column { name, text: true }
}

const fn number(name: &'static str) -> Column {
    Column { name, text: false }
}

/// All of them. The lines are as long as the tables are wide.
#[rustfmt::skip]
pub const TABLES: &[Table] = &[
    Table { name: "layers", says: "a layer: POSIX, MPI-IO, …", columns: &[
        text("layer"), number("files"), number("reads"), number("writes"), number("opens"), number("bytes_read"), number("bytes_written"),
        number("read_seconds"), number("write_seconds"), number("metadata_seconds"), number("seconds"),
    ] },
    Table { name: "files", says: "a file, with the numbers of the layer that took most time", columns: &[
        text("path"), text("file_system"), text("mount"), text("layer"), number("ranks"), number("shared"), number("reads"), number("writes"), number("opens"), number("seeks"), number("size"),
        number("bytes_read"), number("bytes_written"), number("read_seconds"), number("write_seconds"), number("metadata_seconds"), number("seconds"), number("stripes"),
    ] },
    Table { name: "ranks", says: "a rank that is known by itself", columns: &[
        number("rank"), text("host"), number("reads"), number("writes"), number("bytes"), number("seconds"),
    ] },
    Table { name: "sizes", says: "requests of one size class through one layer; of the selection, where calls were traced", columns: &[
        text("layer"), text("size"), number("reads"), number("writes"),
    ] },
    Table { name: "functions", says: "a function, or a kind of call where single functions are not known", columns: &[
        text("layer"), text("function"), number("calls"), number("seconds"),
    ] },
    Table { name: "sites", says: "a place in the program that makes calls, where it was recorded", columns: &[
        text("site"), text("source"), text("function"), number("calls"), number("seconds"), number("bytes"),
    ] },
    Table { name: "phases", says: "a burst of I/O", columns: &[
        number("phase"), number("start"), number("seconds"), number("calls"), number("ranks"), number("bytes_read"), number("bytes_written"),
        number("slowest_rank"), number("slowest_seconds"), number("fastest_rank"), number("fastest_seconds"),
    ] },
    Table { name: "systems", says: "a mounted file system", columns: &[
        text("mount"), text("file_system"), number("files"), number("bytes"), number("seconds"),
    ] },
    Table { name: "targets", says: "a Lustre target; columns of calls come from the trace", columns: &[
        number("ost"), text("server"), number("files"), number("bytes"), number("alone"), number("alone_seconds_mean"), number("alone_seconds_max"),
        number("calls"), number("mpiio_bytes"), number("posix_bytes"), number("ranks"),
        number("seconds_min"), number("seconds_p25"), number("seconds_median"), number("seconds_p75"), number("seconds_max"),
    ] },
    Table { name: "calls", says: "a traced call of the selection, or a group of them", columns: &[
        text("layer"), text("operation"), number("rank"), text("file"), number("start"), number("seconds"), number("longest_seconds"), number("offset"), number("bytes"), number("calls"),
    ] },
    Table { name: "findings", says: "a finding", columns: &[
        text("slug"), text("level"), number("lost_seconds"), number("share"),
    ] },
];

impl Table {
    /// A table by its name.
    pub(super) fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }

    pub(super) fn column(&self, name: &str) -> Option<Column> {
        self.columns.iter().find(|column| column.name == name).copied()
    }

    pub(super) fn column_names(&self) -> String {
        self.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}
