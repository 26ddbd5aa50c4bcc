//! Names with capitals, found without quotes: SQL makes `ProducerName` small unless it is quoted, but that is how it was
//! published, and how people write it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Statement, visit_expressions_mut};

use super::view;

/// Gives names without quotes the capitals they were published with.
pub(super) fn resolve(statement: &mut Statement) {
    let done: ControlFlow<()> = visit_expressions_mut(statement, |expression| {
        match expression {
            Expr::Identifier(name) => capitals(name),
            Expr::CompoundIdentifier(path) => path.iter_mut().last().into_iter().for_each(capitals),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    debug_assert!(done.is_continue(), "nothing ends the walk");
}

fn capitals(name: &mut Ident) {
    let published = view::CAPITALS.iter().find(|known| known.eq_ignore_ascii_case(&name.value));
    if let (None, Some(exact)) = (name.quote_style, published) {
        *name = Ident::with_quote('"', *exact);
    }
}
