//! The tables: one file each says its columns, its order and what they mean. `LAYOUT.md` says where the bytes lie.
//!
//! A table only ever gets new columns, which may be null; a column never changes its meaning.

mod activity;
mod column;
mod counter;
mod event;
mod file;
mod function;
mod heatmap;
mod import;
mod job;
mod ledger;
mod lustre;
mod message;
mod metric;
mod mount;
mod process;
mod site;
mod who;

use std::sync::{Arc, LazyLock};

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

pub use column::{Column, Encoding, Kind, Merge};

/// The version of all schemas together. A table that says more was written by a newer netra.
pub const VERSION: u32 = 1;
/// The column that tables are partitioned by.
pub const DAY: &str = "day";

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name in SQL and in the store's directory.
    pub name: &'static str,
    /// What a row is, in one sentence.
    pub doc: &'static str,
    /// Its columns, without the day.
    pub columns: Vec<Column>,
    /// The columns that rows are sorted by within a file.
    pub sort: &'static [&'static str],
    /// The column whose day is the partition.
    pub time: &'static str,
    /// The columns that name a row for ever, whoever brings it: of rows with the same name one is enough. A row that lacks one of
    /// them has no name. None in roll-ups, whose rows add up, and in what comes in no frame.
    pub once: &'static [&'static str],
    /// Whether rows with the same key may be added up: several rows of one key mean their sum.
    pub is_rollup: bool,
}

/// Every table, in the order in which people think of them.
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let mut tables = vec![
        job::table(),
        process::table(),
        file::table(),
        mount::table(),
        event::table(),
        activity::table(),
        function::table(),
        site::table(),
    ];
    tables.extend(counter::tables());
    tables.extend([
        lustre::table(),
        heatmap::table(),
        metric::table(),
        message::table(),
        ledger::table(),
        import::table(),
    ]);
    tables
});

/// The table with this name.
#[must_use]
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

pub use counter::name_of as counter_table;

impl Table {
    /// The column with this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns as SQL has them; the day is the last.
    #[must_use]
    pub fn asked(&self) -> SchemaRef {
        let fields = self.columns.iter().map(Column::asked);
        Arc::new(Schema::new(fields.chain([Table::day()]).collect::<Vec<Field>>()))
    }

    /// The columns as files have them; the day is in their path.
    #[must_use]
    pub fn stored(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::stored).collect::<Vec<Field>>()))
    }

    /// The column of the partition.
    #[must_use]
    pub fn day() -> Field {
        Field::new(DAY, Kind::Day.stored(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_is_whole() {
        let mut names = BTreeSet::new();
        for table in TABLES.iter() {
            let name = table.name;
            assert!(names.insert(name), "{name} is there twice");
            let columns: BTreeSet<_> = table.columns.iter().map(|column| &column.name).collect();
            assert_eq!(columns.len(), table.columns.len(), "{name} has a column twice");
            assert!(!columns.contains(&DAY.to_owned()), "{name}: the day is nobody's own");
            for sort in table.sort {
                assert!(table.column(sort).is_some(), "{name} is sorted by {sort}");
            }
            for once in table.once {
                assert!(table.column(once).is_some(), "{name} is named by {once}");
                assert!(!table.is_rollup, "rows of {name} add up");
            }
            assert_eq!(table.column(table.time).map(|column| column.kind), Some(Kind::Time));
            for column in &table.columns {
                let name = &column.name;
                assert_eq!(name.to_ascii_lowercase(), *name, "needs quotes in SQL");
                assert!(column.doc.ends_with('.') && !column.doc.contains('\n'), "{name}");
            }
        }
        for name in ["jobs", "events", "posix", "h5d", "pnetcdf_var", "lustre", "ledger"] {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn only_keys_and_sums_are_in_rollups() {
        for table in TABLES.iter().filter(|table| !table.is_rollup) {
            assert!(
                table.columns.iter().all(|column| column.merge == Merge::Key),
                "{}",
                table.name
            );
        }
        let activity = table("activity").unwrap();
        assert_eq!(activity.column("slowest").unwrap().merge, Merge::Most);
        assert_eq!(activity.column("calls").unwrap().merge, Merge::Sum);
    }

    #[test]
    fn counters_have_darshans_names() {
        let posix = table("posix").unwrap();
        assert_eq!(posix.column("posix_bytes_read").unwrap().kind, Kind::Long);
        assert_eq!(posix.column("posix_f_read_time").unwrap().kind, Kind::Double);
        assert_eq!(posix.column("posix_f_read_time").unwrap().unit, "s");
    }
}
