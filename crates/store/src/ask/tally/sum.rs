//! Partial sums of groups. Counting, adding, least and most of whole numbers and times are done here, a run at a time
//! where there are runs; for everything else the engine's own sums are used.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit, TimestampMicrosecondType};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, internal_datafusion_err as internal};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::Literal;

use super::group::Rows;

/// One function of a question.
pub(super) struct Sum {
    arguments: Vec<Arc<dyn PhysicalExpr>>,
    kind: Kind,
    /// The engine's own: what [`Kind::Engine`] asks, and what knows a row's state by itself.
    engine: Box<dyn GroupsAccumulator>,
}

enum Kind {
    /// Rows, or those whose value is not null.
    Count {
        all: bool,
        counts: Vec<i64>,
    },
    Numbers {
        fold: Fold,
        kind: DataType,
        groups: Vec<Option<i64>>,
    },
    Engine {
        groups: Vec<usize>,
    },
}

/// How two numbers become one.
#[derive(Debug, Clone, Copy)]
enum Fold {
    Add,
    Least,
    Most,
}

impl Fold {
    #[inline]
    fn two(self, one: i64, other: i64) -> i64 {
        match self {
            // The engine's sums wrap, too.
            Fold::Add => one.wrapping_add(other),
            Fold::Least => one.min(other),
            Fold::Most => one.max(other),
        }
    }

    /// What changes nothing.
    fn start(self) -> i64 {
        match self {
            Fold::Add => 0,
            Fold::Least => i64::MAX,
            Fold::Most => i64::MIN,
        }
    }

    fn all(self, values: &[i64]) -> i64 {
        // One loop for each, so that the compiler can use wide registers.
        match self {
            Fold::Add => values.iter().fold(0, |sum, &value| sum.wrapping_add(value)),
            Fold::Least => values.iter().fold(i64::MAX, |least, &value| least.min(value)),
            Fold::Most => values.iter().fold(i64::MIN, |most, &value| most.max(value)),
        }
    }
}

impl Sum {
    pub(super) fn new(
        function: &AggregateFunctionExpr,
        argument: Option<&DataType>,
    ) -> Result<Sum> {
        let arguments = function.expressions();
        let fold = match function.fun().name() {
            "sum" if argument == Some(&DataType::Int64) => Some(Fold::Add),
            "min" => Some(Fold::Least),
            "max" => Some(Fold::Most),
            _ => None,
        };
        let kind = match (fold, argument) {
            (Some(fold), Some(kind)) if is_long(kind) => {
                Kind::Numbers { fold, kind: kind.clone(), groups: Vec::new() }
            }
            _ if function.fun().name() == "count" && arguments.len() == 1 => {
                let literal = arguments[0].downcast_ref::<Literal>();
                let all = literal.is_some_and(|literal| !literal.value().is_null());
                Kind::Count { all, counts: Vec::new() }
            }
            _ => Kind::Engine { groups: Vec::new() },
        };
        Ok(Sum { arguments, kind, engine: function.create_groups_accumulator()? })
    }

    /// What it is asked of: the values of its arguments in a batch.
    pub(super) fn values(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        if matches!(self.kind, Kind::Count { all: true, .. }) {
            return Ok(Vec::new());
        }
        let arrays = self.arguments.iter();
        arrays.map(|one| one.evaluate(batch)?.into_array(batch.num_rows())).collect()
    }

    /// Adds the rows of a batch to their groups, of which there are so many now.
    pub(super) fn add(&mut self, values: &[ArrayRef], rows: &Rows<'_>, count: usize) -> Result<()> {
        match &mut self.kind {
            Kind::Count { counts, .. } => {
                counts.resize(count, 0);
                count_rows(counts, values.first(), rows);
                Ok(())
            }
            Kind::Numbers { fold, groups, .. } => {
                groups.resize(count, None);
                let values = values.first().and_then(|array| Some((array, longs(array)?)));
                let (array, values) = values.ok_or_else(|| internal!("a sum over no numbers"))?;
                fold_rows(*fold, groups, array, values, rows);
                Ok(())
            }
            Kind::Engine { groups } => {
                let each = match rows {
                    Rows::Each(each) => each,
                    Rows::Runs(runs) => {
                        groups.clear();
                        for (group, run) in *runs {
                            groups.resize(run.end, *group);
                        }
                        &groups[..]
                    }
                };
                self.engine.update_batch(values, each, None, count)
            }
        }
    }

    /// The partial sums of all groups, which then begin anew.
    pub(super) fn take(&mut self) -> Result<Vec<ArrayRef>> {
        match &mut self.kind {
            Kind::Count { counts, .. } => {
                Ok(vec![Arc::new(Int64Array::from(std::mem::take(counts)))])
            }
            Kind::Numbers { kind, groups, .. } => {
                let numbers = Int64Array::from(std::mem::take(groups));
                Ok(vec![cast(&numbers, kind)?])
            }
            Kind::Engine { .. } => self.engine.state(EmitTo::All),
        }
    }

    /// Each row of a batch as a partial sum of itself.
    pub(super) fn alone(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        if let Kind::Count { all: true, .. } = self.kind {
            return Ok(vec![Arc::new(Int64Array::from(vec![1; batch.num_rows()]))]);
        }
        self.engine.convert_to_state(&self.values(batch)?, None)
    }

    /// About what it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Count { counts, .. } => counts.capacity() * size_of::<i64>(),
            Kind::Numbers { groups, .. } => groups.capacity() * size_of::<Option<i64>>(),
            Kind::Engine { groups } => groups.capacity() * size_of::<usize>() + self.engine.size(),
        }
    }
}

fn is_long(kind: &DataType) -> bool {
    matches!(kind, DataType::Int64 | DataType::Timestamp(TimeUnit::Microsecond, _))
}

fn longs(array: &ArrayRef) -> Option<&[i64]> {
    match array.data_type() {
        DataType::Int64 => Some(array.as_primitive_opt::<Int64Type>()?.values()),
        _ => Some(array.as_primitive_opt::<TimestampMicrosecondType>()?.values()),
    }
}

/// Counts rows; with an array, those where it is not null.
fn count_rows(counts: &mut [i64], array: Option<&ArrayRef>, rows: &Rows<'_>) {
    let nulls = array.and_then(|array| array.logical_nulls());
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    match (rows, nulls) {
        (Rows::Runs(runs), None) => {
            for (group, run) in *runs {
                counts[*group] += run.len() as i64;
            }
        }
        (Rows::Runs(runs), Some(nulls)) => {
            for (group, run) in *runs {
                let there = run.len() - nulls.slice(run.start, run.len()).null_count();
                counts[*group] += there as i64;
            }
        }
        (Rows::Each(each), None) => each.iter().for_each(|&group| counts[group] += 1),
        (Rows::Each(each), Some(nulls)) => {
            for (&group, there) in each.iter().zip(nulls.iter()) {
                counts[group] += i64::from(there);
            }
        }
    }
}

fn fold_rows(
    fold: Fold,
    groups: &mut [Option<i64>],
    array: &ArrayRef,
    values: &[i64],
    rows: &Rows<'_>,
) {
    let mut one = |group: usize, value: i64| {
        let so_far = groups[group].unwrap_or_else(|| fold.start());
        groups[group] = Some(fold.two(so_far, value));
    };
    match (rows, array.nulls().filter(|nulls| nulls.null_count() > 0)) {
        (Rows::Runs(runs), None) => {
            for (group, run) in *runs {
                one(*group, fold.all(&values[run.clone()]));
            }
        }
        (Rows::Runs(runs), Some(nulls)) => {
            for (group, run) in *runs {
                for row in run.clone().filter(|&row| nulls.is_valid(row)) {
                    one(*group, values[row]);
                }
            }
        }
        (Rows::Each(each), None) => {
            for (&group, &value) in each.iter().zip(values) {
                one(group, value);
            }
        }
        (Rows::Each(each), Some(nulls)) => {
            for ((&group, &value), there) in each.iter().zip(values).zip(nulls.iter()) {
                if there {
                    one(group, value);
                }
            }
        }
    }
}
