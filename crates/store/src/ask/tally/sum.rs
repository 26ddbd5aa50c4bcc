//! Partial sums of groups. Counting, adding, least and most of whole numbers and times are done here, a run at a time
//! where there are runs; for everything else the engine's own sums are used.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Int64Array};
use datafusion::arrow::buffer::NullBuffer;
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
    /// Numbers become one; groups without any are null.
    Numbers {
        fold: Fold,
        kind: DataType,
        groups: Numbers,
    },
    Engine {
        groups: Vec<usize>,
    },
}

/// A number for each group.
#[derive(Debug, Default)]
struct Numbers {
    values: Vec<i64>,
    /// Which groups have one. Without this all have: a group is there because of a row, and no row was null so far.
    there: Option<Vec<bool>>,
}

/// Groups that are few: rows are added to one of four numbers for each, so that no row has to wait for the one before it.
const FEW: usize = 64;
const LANES: usize = 4;
type Lanes = [[i64; FEW]; LANES];

/// How two numbers become one.
#[derive(Debug, Clone, Copy)]
enum Fold {
    Add,
    Least,
    Most,
}

impl Fold {
    /// What changes nothing.
    fn start(self) -> i64 {
        match self {
            Fold::Add => 0,
            Fold::Least => i64::MAX,
            Fold::Most => i64::MIN,
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
                Kind::Numbers { fold, kind: kind.clone(), groups: Numbers::default() }
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
                let values = values.first().and_then(|array| Some((array, longs(array)?)));
                let (array, values) = values.ok_or_else(|| internal!("a sum over no numbers"))?;
                let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
                let start = fold.start();
                groups.grow(count, start, nulls.is_some());
                // A loop for each, so that none has to choose row by row.
                match fold {
                    // The engine's sums wrap, too.
                    Fold::Add => groups.add(values, nulls, rows, start, i64::wrapping_add),
                    Fold::Least => groups.add(values, nulls, rows, start, i64::min),
                    Fold::Most => groups.add(values, nulls, rows, start, i64::max),
                }
                Ok(())
            }
            Kind::Engine { groups } => {
                groups.clear();
                match rows {
                    Rows::Each(each) => groups.extend(each.iter().map(|&group| group as usize)),
                    Rows::Runs(runs) => {
                        for (group, run) in *runs {
                            groups.resize(run.end, *group);
                        }
                    }
                }
                self.engine.update_batch(values, groups, None, count)
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
                let Numbers { values, there } = std::mem::take(groups);
                let numbers = Int64Array::new(values.into(), there.map(Into::into));
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
            Kind::Numbers { groups, .. } => groups.values.capacity() * size_of::<(i64, bool)>(),
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
        (Rows::Each(each), None) if counts.len() <= FEW => {
            let ones = std::iter::repeat([1; LANES]);
            lanes(counts, each, ones, [1; LANES], 0, i64::wrapping_add);
        }
        (Rows::Each(each), None) => each.iter().for_each(|&group| counts[group as usize] += 1),
        (Rows::Each(each), Some(nulls)) => {
            for (&group, there) in each.iter().zip(nulls.iter()) {
                counts[group as usize] += i64::from(there);
            }
        }
    }
}

/// Adds rows to groups that are [few](FEW): values in fours, and those of the last rows, which are fewer.
#[inline(always)]
fn lanes(
    groups: &mut [i64],
    each: &[u32],
    fours: impl Iterator<Item = [i64; LANES]>,
    last: [i64; LANES],
    start: i64,
    two: impl Fn(i64, i64) -> i64 + Copy,
) {
    let mut lanes: Lanes = [[start; FEW]; LANES];
    let (rows, rest) = each.as_chunks::<LANES>();
    for (rows, values) in rows.iter().zip(fours) {
        add_four(&mut lanes, rows, &values, two);
    }
    add_four(&mut lanes, rest, &last, two);
    for lane in lanes {
        for (group, value) in groups.iter_mut().zip(lane) {
            *group = two(*group, value);
        }
    }
}

/// Up to four rows, each in a lane of its own.
#[inline(always)]
fn add_four(lanes: &mut Lanes, rows: &[u32], values: &[i64; LANES], two: impl Fn(i64, i64) -> i64) {
    for ((lane, &group), &value) in lanes.iter_mut().zip(rows).zip(values) {
        let so_far = &mut lane[group as usize % FEW];
        *so_far = two(*so_far, value);
    }
}

impl Numbers {
    /// Makes room for new groups; from the first null on, what has no number is told apart.
    fn grow(&mut self, count: usize, start: i64, nulls: bool) {
        if nulls && self.there.is_none() {
            self.there = Some(vec![true; self.values.len()]);
        }
        self.values.resize(count, start);
        if let Some(there) = &mut self.there {
            there.resize(count, false);
        }
    }

    fn add(
        &mut self,
        values: &[i64],
        nulls: Option<&NullBuffer>,
        rows: &Rows<'_>,
        start: i64,
        two: impl Fn(i64, i64) -> i64 + Copy,
    ) {
        if let (Rows::Each(each), None, None) = (rows, nulls, &self.there)
            && self.values.len() <= FEW
        {
            let (fours, rest) = values.as_chunks();
            let mut last = [start; LANES];
            last[..rest.len()].copy_from_slice(rest);
            return lanes(&mut self.values, each, fours.iter().copied(), last, start, two);
        }
        let mut one = |group: usize, value: i64| {
            self.values[group] = two(self.values[group], value);
            if let Some(there) = &mut self.there {
                there[group] = true;
            }
        };
        let is_there = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
        match rows {
            Rows::Runs(runs) if nulls.is_none() => {
                for (group, run) in *runs {
                    let run = &values[run.clone()];
                    if let Some(all) = run.iter().copied().reduce(two) {
                        one(*group, all);
                    }
                }
            }
            Rows::Runs(runs) => {
                for (group, run) in *runs {
                    for row in run.clone().filter(|&row| is_there(row)) {
                        one(*group, values[row]);
                    }
                }
            }
            Rows::Each(each) => {
                for (row, (&group, &value)) in each.iter().zip(values).enumerate() {
                    if is_there(row) {
                        one(group as usize, value);
                    }
                }
            }
        }
    }
}
