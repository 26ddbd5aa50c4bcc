//! What clients ask of the catalog and no table here has: defaults, sequences, collations of its own, indices, constraints, options.
//! SQLAlchemy asks for them in ways that DataFusion does not plan (subqueries that depend on the row outside, lists in the cells of
//! empty tables, columns that are not there); the answer to each is NULL.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArgumentClause, FunctionArguments, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, Value, Visit, VisitMut, VisitorMut, visit_expressions, visit_expressions_mut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// Parts of the catalog that are empty.
const EMPTY: [&str; 3] = ["pg_attrdef", "pg_collation", "pg_sequence"];

/// Parts of the catalog that are empty and have lists in their cells.
const LISTED: [&str; 2] = ["pg_index", "pg_constraint"];

/// Functions that make rows of such a list.
const SPREAD: [&str; 2] = ["unnest", "generate_subscripts"];

/// Places in such a list, by the names that SQLAlchemy gives them.
const ORDERS: [&str; 2] = ["attr.ord", "idx_attr.ord"];

/// A column that PostgreSQL's catalog has and ours has not; nothing is in it.
const OPTIONS: &str = "pg_class.reloptions";

/// Puts NULL where a statement asks for what nothing has, and pairs other escapes of `LIKE` with the one that DataFusion knows.
pub(super) fn simplify(statement: &mut Statement) {
    let named = VisitMut::visit(statement, &mut KeepNames);
    let replaced = visit_expressions_mut(statement, |expr| {
        let better = match expr {
            Expr::Subquery(query) if is_empty(query) => nothing(query.as_ref(), "VARCHAR"),
            Expr::Function(_) => of_nothing(expr).and_then(|kind| nothing(expr, kind)),
            Expr::CompoundIdentifier(_) if is_options(expr) => parsed("CAST(NULL AS VARCHAR)"),
            _ => None,
        };
        if let Some(better) = better {
            *expr = better;
        }
        forget_order(expr);
        unescape(expr);
        ControlFlow::<()>::Continue(())
    });
    debug_assert!(named.is_continue() && replaced.is_continue());
}

/// Gives a column of the answer the name that it had, before NULL takes its place.
struct KeepNames;

impl VisitorMut for KeepNames {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && is_options(expr)
                && let Expr::CompoundIdentifier(names) = &*expr
                && let Some(name) = names.last()
            {
                let (expr, alias) = (expr.clone(), name.clone());
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
        ControlFlow::Continue(())
    }
}

/// Whether a subquery looks into a part of the catalog that is empty, or for the collation of a type.
fn is_empty(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let Some(TableFactor::Table { name, .. }) = select.from.first().map(|from| &from.relation)
    else {
        return false;
    };
    let name = name.to_string();
    let table = name.rsplit('.').next().unwrap_or(&name);
    let of_type = || match select.projection.as_slice() {
        [one] => table == "pg_type" && one.to_string().ends_with("typcollation"),
        _ => false,
    };
    EMPTY.contains(&table) || of_type()
}

/// What kind of value a function would give of an empty part of the catalog, if it looks into one.
fn of_nothing(expr: &Expr) -> Option<&'static str> {
    let text = expr.to_string().replace("pg_catalog.", "");
    let (name, arguments) = text.split_once('(')?;
    let table = arguments.split('.').next().unwrap_or_default();
    match name.to_lowercase().as_str() {
        "pg_get_indexdef" => Some("VARCHAR"),
        name if SPREAD.contains(&name) && LISTED.contains(&table) => Some("BIGINT"),
        _ => None,
    }
}

/// Of keys and indices, of which there are none, any order will do: by one that is NULL in every row DataFusion plans none.
fn forget_order(expr: &mut Expr) {
    if let Expr::Function(function) = expr
        && function.name.to_string().eq_ignore_ascii_case("array_agg")
        && let FunctionArguments::List(arguments) = &mut function.args
    {
        arguments.clauses.retain(|clause| match clause {
            FunctionArgumentClause::OrderBy(by) => {
                !by.iter().any(|one| ORDERS.contains(&one.expr.to_string().as_str()))
            }
            _ => true,
        });
    }
}

fn is_options(expr: &Expr) -> bool {
    let text = expr.to_string();
    text.strip_prefix("pg_catalog.").unwrap_or(&text) == OPTIONS
}

/// NULL that still names the parameters of what was asked, since whoever prepared it binds all of them.
fn nothing(asked: &impl Visit, kind: &str) -> Option<Expr> {
    let mut named = Vec::new();
    let visited = visit_expressions(asked, |expr| {
        if let Expr::Value(value) = expr
            && let Value::Placeholder(name) = &value.value
            && !named.contains(name)
        {
            named.push(name.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    debug_assert!(visited.is_continue());
    let texts: Vec<String> = named.iter().map(|name| format!("CAST({name} AS VARCHAR)")).collect();
    parsed(&match texts.as_slice() {
        [] => format!("CAST(NULL AS {kind})"),
        all => format!("CASE WHEN FALSE THEN CAST(concat({}) AS {kind}) END", all.join(", ")),
    })
}

/// A pattern whose signs are taken literally behind another character than a backslash: says the same with backslashes.
fn unescape(expr: &mut Expr) {
    let (Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. }) = expr
    else {
        return;
    };
    let Some(Value::SingleQuotedString(escape)) = escape_char.as_ref().map(|with| &with.value)
    else {
        return;
    };
    if escape.chars().count() != 1 || escape == "\\" {
        return;
    }
    let escape = escape.replace('\'', "''");
    // The character twice means itself: it is out of the way, as a character that no name has, while single ones become backslashes.
    let text = format!(
        "replace(replace(replace(replace({pattern}, '\\', '\\\\'), '{escape}{escape}', chr(1)), '{escape}', '\\'), chr(1), '{escape}')"
    );
    if let Some(better) = parsed(&text) {
        **pattern = better;
        *escape_char = None;
    }
}

fn parsed(text: &str) -> Option<Expr> {
    Parser::new(&PostgreSqlDialect {}).try_with_sql(text).ok()?.parse_expr().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(sql: &str, want: &str) {
        let mut all = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        simplify(&mut all[0]);
        assert_eq!(all[0].to_string(), want);
    }

    #[test]
    fn what_no_table_has_is_null_and_keeps_its_parameters() {
        becomes(
            "SELECT (SELECT pg_get_expr(d.adbin) FROM pg_catalog.pg_attrdef AS d WHERE d.adnum = a.attnum) FROM a",
            "SELECT CAST(NULL AS VARCHAR) FROM a",
        );
        becomes(
            "SELECT (SELECT f($2, x) FROM pg_sequence WHERE y = $1::VARCHAR AND z = $2) FROM a",
            "SELECT CASE WHEN false THEN CAST(concat(CAST($2 AS VARCHAR), CAST($1 AS VARCHAR)) AS VARCHAR) END FROM a",
        );
        becomes(
            "SELECT (SELECT t.typcollation FROM pg_catalog.pg_type AS t WHERE t.oid = a.o) <> 1 FROM a",
            "SELECT CAST(NULL AS VARCHAR) <> 1 FROM a",
        );
        becomes(
            "SELECT unnest(pg_catalog.pg_index.indkey), generate_subscripts(pg_index.indkey, $1::INTEGER) FROM pg_index",
            "SELECT CAST(NULL AS BIGINT), CASE WHEN false THEN CAST(concat(CAST($1 AS VARCHAR)) AS BIGINT) END FROM pg_index",
        );
        becomes(
            "SELECT pg_catalog.pg_class.reloptions FROM pg_catalog.pg_class",
            "SELECT CAST(NULL AS VARCHAR) AS reloptions FROM pg_catalog.pg_class",
        );
    }

    #[test]
    fn the_order_of_places_in_lists_of_nothing_is_forgotten() {
        becomes(
            "SELECT array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols FROM attr",
            "SELECT array_agg(CAST(attr.attname AS TEXT)) AS cols FROM attr",
        );
    }

    #[test]
    fn any_character_may_be_the_escape_of_a_pattern() {
        becomes(
            "SELECT a FROM b WHERE NOT a LIKE $1 ESCAPE '/'",
            r"SELECT a FROM b WHERE NOT a LIKE replace(replace(replace(replace($1, '\', '\\'), '//', chr(1)), '/', '\'), chr(1), '/')",
        );
    }

    #[test]
    fn other_subqueries_stay() {
        for sql in [
            "SELECT (SELECT max(t) FROM events) FROM a",
            "SELECT (SELECT typname FROM pg_type WHERE oid = 25)",
            "SELECT x FROM (SELECT 1 AS x FROM pg_collation) AS s",
            "SELECT unnest(events.list) FROM events",
            "SELECT array_agg(op ORDER BY t) FROM events",
            "SELECT a FROM b WHERE a LIKE 'x%'",
            r"SELECT a FROM b WHERE a LIKE 'x%' ESCAPE '\'",
        ] {
            becomes(sql, sql);
        }
    }
}
