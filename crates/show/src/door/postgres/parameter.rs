//! Parameters of prepared statements: `$1` and so on, whose types follow from where they stand.

use std::collections::HashMap;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ParamValues;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion_postgres::arrow_pg::datatypes::df::deserialize_parameters;
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;
use datafusion_postgres::pgwire::api::Type;
use datafusion_postgres::pgwire::api::portal::Portal;
use datafusion_postgres::pgwire::error::PgWireResult;

use super::parse::Prepared;
use super::refuse;

/// The types that a client is told, in order.
pub(super) fn types(plan: &LogicalPlan) -> PgWireResult<Vec<Type>> {
    let types = inferred(plan)?;
    let told = |kind: &Option<DataType>| match kind {
        Some(kind) => into_pg_type(kind),
        None => Ok(Type::UNKNOWN),
    };
    types.iter().map(told).collect()
}

/// The plan with what the client has bound.
pub(super) fn bound(plan: &LogicalPlan, portal: &Portal<Prepared>) -> PgWireResult<LogicalPlan> {
    if portal.parameter_len() == 0 {
        return Ok(plan.clone());
    }
    let types = inferred(plan)?;
    // A number or a truth that is only cast to text comes as what the client says it is; the cast makes a text of it.
    let declared = |at: usize| portal.statement.parameter_types.get(at).cloned().flatten();
    let comes_as_text = |at: usize| {
        declared(at).is_none_or(|kind| [Type::UNKNOWN, Type::TEXT, Type::VARCHAR].contains(&kind))
    };
    let types: Vec<Option<&DataType>> = types
        .iter()
        .enumerate()
        .map(|(at, kind)| kind.as_ref().filter(|kind| !kind.is_string() || comes_as_text(at)))
        .collect();
    let values: ParamValues = deserialize_parameters(portal, &types)?;
    let plan = plan.clone().replace_params_with_values(&values);
    plan.map_err(|error| refuse::error("22023", error.strip_backtrace()))
}

/// What the plan says of each parameter. One that is only cast has the type it is cast to.
fn inferred(plan: &LogicalPlan) -> PgWireResult<Vec<Option<DataType>>> {
    let wrong =
        |error: datafusion::error::DataFusionError| refuse::error("42P18", error.strip_backtrace());
    let mut found = plan.get_parameter_types().map_err(wrong)?;
    let mut cast: HashMap<String, DataType> = HashMap::new();
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::Cast(outer) = part
                    && let Expr::Placeholder(inner) = &*outer.expr
                {
                    cast.insert(inner.id.clone(), outer.field.data_type().clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })
    .map_err(wrong)?;
    for (name, kind) in cast {
        found.entry(name).or_default().get_or_insert(kind);
    }
    let number = |name: &str| name.trim_start_matches('$').parse::<usize>().unwrap_or(0);
    let most = found.keys().map(|name| number(name)).max().unwrap_or(0);
    let mut types = vec![None; most];
    for (name, kind) in found {
        if let Some(place) = number(&name).checked_sub(1).and_then(|place| types.get_mut(place)) {
            *place = kind;
        }
    }
    Ok(types)
}
