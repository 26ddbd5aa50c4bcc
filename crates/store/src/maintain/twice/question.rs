//! The questions whose answers are roll-ups as they should be: of `part`, the files of the roll-up; `every`, the rows it was made of
//! with their copies; and `once`, the same without. A column more than the roll-up has says what became of a row.

use super::correct::state;
use super::seen::sent;
use crate::maintain::compact::{name, rows_of};
use crate::schema::{Merge, TABLES, Table};

/// The column that says what became of a row.
pub(super) const STATE: &str = "state";

/// The rows of a window of a roll-up, as they should be; only those that meet the condition can be wrong.
pub(super) fn corrected(table: &Table, window: &str, condition: &str) -> String {
    match table.name {
        "jobs" => jobs(table, window, condition),
        "files" => files(table, window, condition),
        _ => calls(table, window, condition),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn keys(table: &Table) -> impl Iterator<Item = &str> {
    let keys = table.columns.iter().filter(|column| column.merge == Merge::Key);
    keys.map(|column| column.name.as_str())
}

fn sums(table: &Table) -> impl Iterator<Item = (&str, &'static str)> {
    let sums = table.columns.iter();
    sums.filter_map(|column| Some((column.name.as_str(), column.merge.function()?)))
}

/// What a call adds to a column of `activity` and `functions`.
fn of_call(table: &Table, column: &str) -> String {
    match column {
        "calls" => "1".to_owned(),
        "time" | "slowest" => "duration".to_owned(),
        "failed" => "case when error is null then 0 else 1 end".to_owned(),
        "last" => "t".to_owned(),
        // The second in which a call began.
        "t" if keys(table).any(|key| key == "t") => "date_trunc('second', t)".to_owned(),
        same => name(same),
    }
}

/// `activity` and `functions`: calls by key. Calls are added up rather than joined, since that can go to disk.
fn calls(table: &Table, window: &str, condition: &str) -> String {
    let columns = || keys(table).chain(sums(table).map(|(sum, _)| sum));
    let own = list(columns().map(name));
    let of_call =
        list(columns().map(|column| format!("{} as {}", of_call(table, column), name(column))));
    let from = |tag: u8, events: &str| {
        format!("select {of_call}, {tag} as tag from {events} where {window} and {condition}")
    };
    let tagged = format!(
        "select {own}, 0 as tag from part where {window} union all {} union all {}",
        from(1, "every"),
        from(2, "once")
    );
    let added = sums(table).flat_map(|(sum, function)| {
        [("kept", 0), ("every", 1), ("once", 2)].map(|(prefix, tag)| {
            format!("{function}({}) filter (where tag = {tag}) as {prefix}_{sum}", name(sum))
        })
    });
    let (keyed, added) = (list(keys(table).map(name)), list(added));
    let same = |a: &str, b: &str| {
        let each =
            sums(table).map(|(sum, _)| format!("({a}_{sum} is not distinct from {b}_{sum})"));
        format!("({})", each.collect::<Vec<_>>().join(" and "))
    };
    let (right, corrected, left) = (state::RIGHT, state::CORRECTED, state::LEFT);
    let (left_absent, gone, absent) = (state::LEFT_ABSENT, state::GONE, state::ABSENT);
    let state = format!(
        "case when kept_calls is null and (once_calls is null or {}) then {absent} \
         when kept_calls is null then {left_absent} \
         when {} or {} then {right} \
         when {} then case when once_calls is null then {gone} else {corrected} end \
         else {left} end",
        same("every", "once"),
        same("every", "once"),
        same("kept", "once"),
        same("kept", "every"),
    );
    let chosen = sums(table).map(|(sum, _)| {
        format!(
            "case when {STATE} = {corrected} then once_{sum} else kept_{sum} end as {}",
            name(sum)
        )
    });
    let chosen = list(keys(table).map(name).chain(chosen));
    format!(
        "select {chosen}, {STATE} from (select *, {state} as {STATE} from \
         (select {keyed}, {added} from ({tagged}) group by {keyed}))"
    )
}

/// The sums of `jobs`, and when a process adds to them.
const OF_PROCESS: [(&str, &str); 3] = [
    ("processes", "true"),
    ("killed", "\"state\" = 'killed'"),
    ("running", "\"state\" = 'running'"),
];

/// `jobs`: processes that ended. Which of a job's rows a process is in, nobody knows once rows were added up: what is too much goes from
/// the rows that have most, or evenly if everything is there twice. The job's own sums are right either way.
fn jobs(table: &Table, window: &str, condition: &str) -> String {
    let all = |of: &dyn Fn(&str) -> String, between: &str| {
        OF_PROCESS.map(|(sum, _)| of(sum)).join(between)
    };
    let counted = |from: &str, prefix: &str| {
        let each = OF_PROCESS.map(|(sum, which)| {
            format!("sum(case when {which} then 1 else 0 end) as {prefix}_{sum}")
        });
        let sent = crate::schema::table("processes").map_or_else(|| "true".to_owned(), sent);
        format!(
            "(select job as {prefix}_job, {} from {from} where {window} and {condition} and {sent} group by job)",
            each.join(", ")
        )
    };
    let streamed = |sum: &str| format!("case when source = 'stream' then {sum} else 0 end");
    let totals =
        all(&|sum| format!("sum({}) over (partition by job) as kept_{sum}", streamed(sum)), ", ");
    let before = all(
        &|sum| {
            let of = streamed(sum);
            format!(
                "coalesce(sum({of}) over (partition by job order by {of} desc, modules, partial, metadata, \"log\" \
                 rows between unbounded preceding and 1 preceding), 0) as before_{sum}"
            )
        },
        ", ",
    );
    let odd = all(&|sum| format!("{} % 2", streamed(sum)), " + ");
    let same = |a: &str, b: &str| all(&|sum| format!("{a}_{sum} = {b}_{sum}"), " and ");
    let twice = all(&|sum| format!("every_{sum} = 2 * once_{sum}"), " and ");
    let (right, corrected, left) = (state::RIGHT, state::CORRECTED, state::LEFT);
    let state = format!(
        "case when source <> 'stream' or every_job is null or once_job is null then {right} \
         when ({}) or ({}) then {right} when {} then {corrected} else {left} end",
        same("every", "once"),
        same("kept", "once"),
        same("kept", "every"),
    );
    let chosen = table.columns.iter().map(|column| {
        let sum = &column.name;
        if !OF_PROCESS.iter().any(|(of, _)| of == sum) {
            return name(sum);
        }
        format!(
            "case when {STATE} <> {corrected} then {sum} when {twice} and odd = 0 then {sum} / 2 \
             else {sum} - least({sum}, greatest(every_{sum} - once_{sum} - before_{sum}, 0)) end as {sum}"
        )
    });
    let chosen = list(chosen);
    let kept = rows_of(table, window);
    format!(
        "select {chosen}, {STATE} from (select *, {state} as {STATE} from \
         (select *, {totals}, {before}, max({odd}) over (partition by job) as odd from ({kept})) \
         left join {} on job = every_job left join {} on job = once_job)",
        counted("every", "every"),
        counted("once", "once"),
    )
}

/// Tables that say which process has touched which file.
pub(super) fn touching() -> impl Iterator<Item = &'static Table> {
    let both =
        |table: &&Table| ["process", "file_id"].iter().all(|name| table.column(name).is_some());
    TABLES.iter().filter(both)
}

/// `files`: processes that have touched a file, which their records and calls tell.
fn files(table: &Table, window: &str, condition: &str) -> String {
    let whose = ["job", "exe", "uid", "user"];
    let touched = touching().map(|touching| {
        format!("select process, file_id from {} where {condition}", touching.name)
    });
    let touched = touched.collect::<Vec<_>>().join(" union all ");
    let touched = format!(
        "(select distinct process as touching, file_id as touched from ({touched}) \
         where process is not null and file_id is not null)"
    );
    let sent = crate::schema::table("processes").map_or_else(|| "true".to_owned(), sent);
    let counted = |from: &str| {
        let own = list(whose.iter().map(|column| format!("{} as {from}_{column}", name(column))));
        let group = list(whose.iter().map(|column| name(column)));
        format!(
            "(select {own}, touched as {from}_file, count(*) as {from}_processes from {from} join {touched} on process = touching \
             where {window} and {condition} and {sent} group by {group}, touched)"
        )
    };
    // What `window` says of the order's first column holds for both.
    let joined = |from: &str| {
        let each = whose.map(|column| format!("{} = {from}_{column}", name(column)));
        format!("left join {} on {} and file_id = {from}_file", counted(from), each.join(" and "))
    };
    let (right, corrected, left) = (state::RIGHT, state::CORRECTED, state::LEFT);
    let state = format!(
        "case when processes = 0 or not ({condition}) or processes = coalesce(once_processes, 0) then {right} \
         when alone = 1 and processes = every_processes and once_processes > 0 then {corrected} else {left} end"
    );
    let chosen = table.columns.iter().map(|column| match column.name.as_str() {
        "processes" => format!(
            "case when {STATE} = {corrected} then once_processes else processes end as processes"
        ),
        other => name(other),
    });
    let partition = list(whose.iter().copied().chain(["file_id"]).map(name));
    format!(
        "select {}, {STATE} from (select *, {state} as {STATE} from \
         (select *, count(*) over (partition by {partition}) as alone from ({})) {} {})",
        list(chosen),
        rows_of(table, window),
        joined("every"),
        joined("once"),
    )
}
