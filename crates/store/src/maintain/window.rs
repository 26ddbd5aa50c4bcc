//! Cuts the rows of a day into windows that follow each other in the table's order, each small enough to be sorted in memory.
//!
//! Sorting a day at once would put all of it on disk, unpacked: thirty times what its files have.

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;

use crate::Result;
use crate::schema::Table;

/// A value as SQL writes it, and how many rows have it; `None` is NULL, which comes first.
type Counted = (Option<String>, u64);

/// The column that divides what has one value in the first column of the order, where it is too much.
const SECOND: &str = "rank";

/// Conditions of windows with about `most` rows at most, in the table's order; one value of the first two columns is never divided.
pub(super) async fn windows(
    session: &SessionContext,
    table: &Table,
    most: u64,
) -> Result<Vec<String>> {
    let [first, more @ ..] = table.sort else { return Ok(vec!["true".to_owned()]) };
    let has_second = more.first() == Some(&SECOND);
    let mut windows = Vec::new();
    for run in runs(count(session, first, "true").await?, most) {
        let whole = between(first, &run);
        if rows(&run) > most && has_second {
            let parts = runs(count(session, SECOND, &whole).await?, most);
            let part = |run: &Vec<Counted>| format!("{whole} and {}", between(SECOND, run));
            windows.extend(parts.iter().map(part));
        } else {
            windows.push(whole);
        }
    }
    Ok(windows)
}

/// How many rows have each value of a column, in its order.
async fn count(session: &SessionContext, column: &str, condition: &str) -> Result<Vec<Counted>> {
    let literal = match column {
        SECOND => format!("arrow_cast(\"{column}\", 'Utf8')"),
        _ => format!("'''' || replace(arrow_cast(\"{column}\", 'Utf8'), '''', '''''') || ''''"),
    };
    let question = format!(
        "select arrow_cast({literal}, 'Utf8'), n from (select \"{column}\", count(*) as n from part \
         where {condition} group by \"{column}\") order by \"{column}\" asc nulls first"
    );
    let mut counted = Vec::new();
    for batch in session.sql(&question).await?.collect().await? {
        let values = batch.column(0).as_string::<i32>().iter();
        let numbers = batch.column(1).as_primitive::<Int64Type>().values();
        let numbers = numbers.iter().map(|number| number.cast_unsigned());
        counted.extend(values.map(|value| value.map(str::to_owned)).zip(numbers));
    }
    Ok(counted)
}

fn rows(run: &[Counted]) -> u64 {
    run.iter().map(|(_, rows)| rows).sum()
}

/// Values that follow each other, as many as have no more rows together; or one.
fn runs(counted: Vec<Counted>, most: u64) -> Vec<Vec<Counted>> {
    let mut runs: Vec<Vec<Counted>> = Vec::new();
    for one in counted {
        match runs.last_mut() {
            Some(run) if rows(run) + one.1 <= most => run.push(one),
            _ => runs.push(vec![one]),
        }
    }
    runs
}

/// The condition that a value is one of the run or between two of them.
fn between(column: &str, run: &[Counted]) -> String {
    let first = run.first().and_then(|(value, _)| value.as_ref());
    let last = run.last().and_then(|(value, _)| value.as_ref());
    match (first, last) {
        (Some(first), Some(last)) if first == last => format!("\"{column}\" = {first}"),
        (Some(first), Some(last)) => format!("\"{column}\" between {first} and {last}"),
        (None, Some(last)) => format!("(\"{column}\" is null or \"{column}\" <= {last})"),
        (_, None) => format!("\"{column}\" is null"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
    use datafusion::arrow::compute::concat_batches;
    use datafusion::arrow::record_batch::RecordBatch;

    use super::*;
    use crate::schema::{Merge, TABLES};

    #[test]
    fn windows_are_full_and_never_divide_a_value() {
        let counted = |values: &[(&str, u64)]| -> Vec<Counted> {
            values.iter().map(|&(value, rows)| (Some(value.to_owned()), rows)).collect()
        };
        let mut all = vec![(None, 2)];
        all.extend(counted(&[("1", 3), ("2", 5), ("3", 1), ("4", 20), ("5", 4), ("6", 1)]));
        let runs = runs(all, 6);
        let windows: Vec<(String, u64)> =
            runs.iter().map(|run| (between("rank", run), rows(run))).collect();
        let want = [
            ("(\"rank\" is null or \"rank\" <= 1)", 5),
            ("\"rank\" between 2 and 3", 6),
            ("\"rank\" = 4", 20),
            ("\"rank\" between 5 and 6", 5),
        ];
        assert_eq!(windows, want.map(|(text, rows)| (text.to_owned(), rows)));
        assert_eq!(between("job", &[(None, 1)]), "\"job\" is null");
    }

    /// Whatever is in the columns, the windows one after the other are all rows in their order.
    #[tokio::test]
    async fn windows_follow_each_other() {
        let names = ["slurm.9.0", "o'clock", "", "pbs.1", "slurm.10.0"];
        let rows = (0..400_usize).map(|i| {
            let job = names[if i % 3 == 0 { i % 5 } else { 0 }];
            (job, (i % 7 > 0).then_some(i64::try_from(i * i % 11).unwrap() - 1))
        });
        let (jobs, ranks): (Vec<&str>, Vec<Option<i64>>) = rows.unzip();
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("job", Arc::new(StringArray::from(jobs)) as ArrayRef, false),
            ("rank", Arc::new(Int64Array::from(ranks)), true),
        ]);
        let session = SessionContext::new();
        session.register_batch("part", batch.unwrap()).unwrap();
        let order = "order by job asc nulls first, rank asc nulls first";
        let ask = async |condition: &str| {
            let question = format!("select job, rank from part where {condition} {order}");
            let found = session.sql(&question).await.unwrap().collect().await.unwrap();
            concat_batches(&found[0].schema(), &found).unwrap()
        };
        let events = crate::schema::table("events").unwrap();
        let windows = windows(&session, events, 30).await.unwrap();
        // More than fit: cut by rank, of which there are six and NULL.
        assert_eq!(windows.iter().filter(|window| window.contains("slurm.9.0")).count(), 7);
        let mut parts = Vec::new();
        for window in &windows {
            parts.push(ask(window).await);
        }
        let whole = ask("true").await;
        assert_eq!(concat_batches(&whole.schema(), &parts).unwrap(), whole);
        assert_eq!(whole.num_rows(), 400);
    }

    /// Rows that are added up must lie in one window.
    #[test]
    fn windows_of_a_roll_up_are_cut_by_its_keys() {
        for table in TABLES.iter().filter(|table| table.is_rollup) {
            let cut = [Some(table.sort[0]), (table.sort.get(1) == Some(&SECOND)).then_some(SECOND)];
            for name in cut.into_iter().flatten() {
                let column = table.column(name).unwrap();
                assert_eq!(column.merge, Merge::Key, "{}.{name}", table.name);
            }
        }
    }
}
