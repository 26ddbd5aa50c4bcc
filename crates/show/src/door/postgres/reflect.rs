//! What clients ask of the catalog and no table here has: defaults, sequences, collations of its own. SQLAlchemy asks for them in
//! subqueries that depend on the row outside, which DataFusion does not plan; the answer to each is NULL.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Query, SetExpr, Statement, TableFactor, Value, visit_expressions, visit_expressions_mut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// Parts of the catalog that are empty.
const EMPTY: [&str; 3] = ["pg_attrdef", "pg_collation", "pg_sequence"];

/// Puts NULL where a statement asks for what nothing has.
pub(super) fn simplify(statement: &mut Statement) {
    let replaced = visit_expressions_mut(statement, |expr| {
        if let Expr::Subquery(query) = expr
            && is_empty(query)
            && let Some(nothing) = nothing(query)
        {
            *expr = nothing;
        }
        ControlFlow::<()>::Continue(())
    });
    debug_assert!(replaced.is_continue());
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

/// NULL that still names the parameters of a query, since whoever prepared it binds all of them.
fn nothing(query: &Query) -> Option<Expr> {
    let mut named = Vec::new();
    let visited = visit_expressions(query, |expr| {
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
    let text = match texts.as_slice() {
        [] => "NULL".to_owned(),
        all => format!("CASE WHEN FALSE THEN concat({}) ELSE NULL END", all.join(", ")),
    };
    Parser::new(&PostgreSqlDialect {}).try_with_sql(&text).ok()?.parse_expr().ok()
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
            "SELECT NULL FROM a",
        );
        becomes(
            "SELECT (SELECT f($2, x) FROM pg_sequence WHERE y = $1::VARCHAR AND z = $2) FROM a",
            "SELECT CASE WHEN false THEN concat(CAST($2 AS VARCHAR), CAST($1 AS VARCHAR)) ELSE NULL END FROM a",
        );
        becomes(
            "SELECT (SELECT t.typcollation FROM pg_catalog.pg_type AS t WHERE t.oid = a.o) <> 1 FROM a",
            "SELECT NULL <> 1 FROM a",
        );
    }

    #[test]
    fn other_subqueries_stay() {
        for sql in [
            "SELECT (SELECT max(t) FROM events) FROM a",
            "SELECT (SELECT typname FROM pg_type WHERE oid = 25)",
            "SELECT x FROM (SELECT 1 AS x FROM pg_collation) AS s",
        ] {
            becomes(sql, sql);
        }
    }
}
