//! Sums over groups, made while rows are read: `select op, sum(bytes) … group by op`.
//!
//! Rows come sorted by job and rank, and what people group by has few values: names of operations, jobs, ranks, files. The
//! engine's own first step of such a question hashes every row as if all might differ, and that is half of the whole
//! time. Here equal neighbours are one run that is looked up once, short texts are compared as the numbers they are stored
//! as, and whole runs are added up at a time. Where files list their texts, rows are told apart by their places in the list ([`Referring`]).
//!
//! Only the first step is replaced: [`Tally`] gives the same partial sums, in the same columns, as the step that was
//! planned, and the engine puts them together as before. What is not known to be right here stays as it was planned.

mod group;
mod plan;
mod refer;
mod sum;
#[cfg(test)]
mod tests;
mod word;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use plan::Tally;
use refer::Referring;

/// Functions whose partial result is of one size however many rows go into it.
const FUNCTIONS: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// Puts [`Tally`] where a plan has a first step that it can do.
#[derive(Debug)]
pub(super) struct Tallying;

impl PhysicalOptimizerRule for Tallying {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            Ok(replaced(&node)?.map_or(Transformed::no(node), Transformed::yes))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "tally"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// What stands for this step, if there is something quicker.
fn replaced(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(planned) = node.downcast_ref::<AggregateExec>() else { return Ok(None) };
    if !is_known(planned)? {
        return Ok(None);
    }
    match planned.mode() {
        AggregateMode::Partial => first_step(planned).map(Some),
        AggregateMode::Single => both_steps(planned),
        _ => Ok(None),
    }
}

/// The first step over files and rows that are in none yet: each for itself, as their texts come in different ways.
fn first_step(planned: &AggregateExec) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(union) = planned.input().downcast_ref::<UnionExec>() else {
        let referring = Referring::below(planned).map(|input| over(planned, input)).transpose()?;
        return Ok(Arc::new(Tally::new(referring.unwrap_or_else(|| planned.clone()))));
    };
    let mut parts = Vec::with_capacity(union.inputs().len());
    for part in union.inputs() {
        parts.push(first_step(&over(planned, Arc::clone(part))?)?);
    }
    UnionExec::try_new(parts)
}

/// The same step over another input.
fn over(planned: &AggregateExec, input: Arc<dyn ExecutionPlan>) -> Result<AggregateExec> {
    step(planned, AggregateMode::Partial, planned.group_expr().clone(), input)
}

fn step(
    planned: &AggregateExec,
    mode: AggregateMode,
    group: PhysicalGroupBy,
    input: Arc<dyn ExecutionPlan>,
) -> Result<AggregateExec> {
    AggregateExec::try_new(
        mode,
        group,
        planned.aggr_expr().to_vec(),
        planned.filter_expr().to_vec(),
        input,
        planned.input_schema(),
    )
}

/// Where one step was to do all: the first step is ours, the second the engine's.
fn both_steps(planned: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let first = first_step(&over(planned, Arc::clone(planned.input()))?)?;
    let second = step(planned, AggregateMode::Final, planned.group_expr().as_final(), first)?;
    Ok((second.schema() == planned.schema()).then(|| Arc::new(second) as Arc<dyn ExecutionPlan>))
}

fn is_known(planned: &AggregateExec) -> Result<bool> {
    let group = planned.group_expr();
    if group.expr().is_empty()
        || !group.is_single()
        || *planned.input_order_mode() != InputOrderMode::Linear
        || planned.limit_options().is_some()
        || planned.filter_expr().iter().any(Option::is_some)
        || !planned.dynamic_expressions_produced().is_empty()
    {
        return Ok(false);
    }
    let input = planned.input().schema();
    for (expression, _) in group.expr() {
        if !word::can_tell_apart(&expression.data_type(&input)?) {
            return Ok(false);
        }
    }
    for function in planned.aggr_expr() {
        if !is_known_function(function)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_known_function(function: &AggregateFunctionExpr) -> Result<bool> {
    let is_plain = FUNCTIONS.contains(&function.fun().name())
        && !function.is_distinct()
        && function.order_bys().is_empty()
        && function.groups_accumulator_supported();
    Ok(is_plain && function.state_fields()?.iter().all(|field| field.data_type().is_primitive()))
}
