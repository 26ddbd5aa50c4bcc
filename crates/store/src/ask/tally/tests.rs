//! Sums with [`Tallying`] against the engine's own over the same rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int16Array, Int64Array, StringViewArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use proptest::prelude::*;

use super::Tallying;

/// A row: job, rank, moment and fraction, flag, number; numbers decide which are null.
type Row = (u8, u8, i16, u8, i64);

const TEXTS: [&str; 6] = [
    "",
    "write",
    "slurm.1050.0",
    "slurm.1050.01",
    "/scratch/a/long/path/1",
    "/scratch/a/long/path/2",
];

/// What is asked. Rows come in any order, so each question sorts its answer.
const QUESTIONS: [&str; 12] = [
    "select job, count(distinct rank) from t group by job order by 1, 2",
    "select job, count(*), sum(number), max(number) from t group by job order by 1, 2, 3, 4",
    "select job, rank, count(*), sum(number) from t group by job, rank order by 1, 2, 3, 4",
    "select rank, min(number), max(moment), min(moment) from t group by rank order by 1, 2, 3, 4",
    "select moment, flag, count(number), count(fraction) from t group by moment, flag order by 1, 2, 3, 4",
    "select job, avg(number), sum(short), min(short) from t group by job order by 1, 2, 3, 4",
    "select job, sum(fraction), avg(fraction) from t group by job order by 1, 2, 3",
    "select distinct job, flag from t order by 1, 2",
    "select short, job, rank, flag, moment, count(*) from t group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5, 6",
    "select number, count(*), count(job) from t where rank <> 3 group by number order by 1, 2, 3",
    "select job || '.' as more, count(1), count(null) from t group by 1 order by 1, 2, 3",
    "select date_trunc('second', moment), rank % 2, sum(number) from t group by 1, 2 order by 1, 2, 3",
];

fn batch(rows: &[Row]) -> RecordBatch {
    let job = rows.iter().map(|row| TEXTS.get(usize::from(row.0) % 7).copied());
    let rank = rows.iter().map(|row| (row.1 != 9).then_some(i64::from(row.1 % 5)));
    let short = rows.iter().map(|row| row.2 / 50);
    let moment = rows.iter().map(|row| (row.2 % 7 != 0).then_some(i64::from(row.2) * 400_000));
    let flag = rows.iter().map(|row| [None, Some(true), Some(false)][usize::from(row.3) % 3]);
    let number = rows.iter().map(|row| (row.3 % 5 != 0).then_some(row.4));
    let fraction = rows.iter().map(|row| (row.3 % 4 != 0).then_some(f64::from(row.2) / 8.0));
    let moment = TimestampMicrosecondArray::from_iter(moment).with_timezone("UTC");
    let columns: [(&str, ArrayRef); 7] = [
        ("job", Arc::new(StringViewArray::from_iter(job))),
        ("rank", Arc::new(Int64Array::from_iter(rank))),
        ("short", Arc::new(Int16Array::from_iter_values(short))),
        ("moment", Arc::new(moment)),
        ("flag", Arc::new(BooleanArray::from_iter(flag))),
        ("number", Arc::new(Int64Array::from_iter(number))),
        ("fraction", Arc::new(Float64Array::from_iter(fraction))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn context(parts: &[Vec<RecordBatch>], tallying: bool, memory: Option<usize>) -> SessionContext {
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = memory {
        runtime = runtime.with_memory_limit(memory, 1.0);
    }
    let mut state = SessionStateBuilder::new_with_default_features()
        .with_config(SessionConfig::new().with_target_partitions(parts.len()))
        .with_runtime_env(runtime.build_arc().unwrap());
    if tallying {
        state = state.with_physical_optimizer_rule(Arc::new(Tallying));
    }
    let context = SessionContext::new_with_state(state.build());
    let table = MemTable::try_new(parts[0][0].schema(), parts.to_vec()).unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

async fn asked(context: &SessionContext, question: &str) -> String {
    let rows = context.sql(question).await.unwrap().collect().await.unwrap();
    pretty_format_batches(&rows).unwrap().to_string()
}

/// Every question has the engine's answer, and a plan with a tally in it.
fn check(parts: &[Vec<RecordBatch>]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = (context(parts, true, None), context(parts, false, None));
        for question in QUESTIONS {
            let plan = asked(&ours, &format!("explain {question}")).await;
            assert!(plan.contains("Tally: "), "{question}\n{plan}");
            assert_eq!(asked(&ours, question).await, asked(&theirs, question).await, "{question}");
        }
    });
}

fn row() -> impl Strategy<Value = Row> {
    (any::<u8>(), 0_u8..10, -400_i16..400, any::<u8>(), prop_oneof![-3_i64..3, any::<i64>()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    #[test]
    fn rows_that_hardly_repeat(rows in proptest::collection::vec(row(), 1..120)) {
        let half = rows.len().div_ceil(2);
        check(&[vec![batch(&rows[..half])], vec![batch(&rows[half..])]]);
        check(&[vec![batch(&rows)]]);
    }

    #[test]
    fn rows_in_runs(runs in proptest::collection::vec((row(), 1_usize..60), 1..20)) {
        let rows: Vec<Row> =
            runs.iter().flat_map(|&(row, times)| std::iter::repeat_n(row, times)).collect();
        let whole = batch(&rows);
        // Cut where runs are not: batches end in the middle of one.
        let cut = rows.len() / 3;
        let parts = [whole.slice(0, cut), whole.slice(cut, rows.len() - cut)];
        check(&[parts.to_vec()]);
        check(&parts.map(|part| vec![part]));
    }
}

/// More groups than are kept at a time, in rows that repeat and in rows that do not.
#[tokio::test]
async fn many_groups_are_all_there() {
    for rows_of_a_group in [1, 3] {
        let rows = |from: i64| -> Vec<Row> {
            (from..from + 20_000).map(|at| (at as u8, 1, 1, 1, at / rows_of_a_group)).collect()
        };
        let batches: Vec<RecordBatch> = (0..15).map(|at| batch(&rows(at * 20_000))).collect();
        // The same once more, so that groups come again after they went out.
        let parts = [[&batches[..], &batches[..]].concat()];
        let (ours, theirs) = (context(&parts, true, None), context(&parts, false, None));
        let question = "select count(*), sum(c), min(c), max(c), sum(s), max(j) from \
                        (select number, count(*) c, sum(number) s, max(short) j from t group by number)";
        let answer = asked(&ours, question).await;
        assert_eq!(answer, asked(&theirs, question).await);
        let groups = 300_000 / rows_of_a_group;
        assert!(answer.contains(&format!("| {groups} ")), "{answer}");
    }
}

/// With hardly any memory the groups go out early; the answer is the same.
#[tokio::test]
async fn little_memory_changes_nothing() {
    let rows: Vec<Row> = (0..40_000_i64).map(|at| (at as u8, 1, 1, 1, at % 30_000)).collect();
    let parts = [rows.chunks(4000).map(batch).collect::<Vec<_>>()];
    let question =
        "select count(*), sum(c), max(c) from (select number, count(*) c from t group by number)";
    let (ours, theirs) = (context(&parts, true, Some(6 << 20)), context(&parts, false, None));
    assert_eq!(asked(&ours, question).await, asked(&theirs, question).await);
}

/// What is not known to be right stays with the engine.
#[tokio::test]
async fn other_questions_stay_as_they_were() {
    let context = context(&[vec![batch(&[(1, 1, 1, 1, 1), (2, 2, 2, 2, 2)])]], true, None);
    for question in [
        "select job, count(distinct rank), count(distinct number) from t group by job",
        "select job, max(job) from t group by job",
        "select fraction, count(*) from t group by fraction",
        "select job, sum(number) filter (where rank > 1) from t group by job",
        "select job, array_agg(number) from t group by job",
        "select job, rank, count(*) from t group by rollup (job, rank)",
        "select count(*) from t where rank > 1",
    ] {
        let plan = asked(&context, &format!("explain {question}")).await;
        assert!(!plan.contains("Tally: "), "{question}\n{plan}");
    }
}
