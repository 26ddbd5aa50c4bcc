//! Statements that are prepared before they run: what they mean is known from then on, their parameters are not.

use std::sync::{Arc, LazyLock, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::FieldInfo;
use datafusion_postgres::pgwire::api::stmt::QueryParser;
use datafusion_postgres::pgwire::api::{ClientInfo, Type};
use datafusion_postgres::pgwire::error::PgWireResult;

use super::command::Command;
use super::connection::{Entered, inside};
use super::{encode, parameter, reflect, refuse};

/// A prepared statement.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) command: Command,
    /// What it means, if it is a question.
    pub(super) plan: Option<LogicalPlan>,
    /// The columns of its answer, if it has one.
    pub(super) schema: Option<SchemaRef>,
}

/// The statements of a text, with the peculiarities that clients rely on already rewritten.
pub(super) fn statements(sql: &str) -> PgWireResult<Vec<Statement>> {
    static PARSER: LazyLock<PostgresCompatibilityParser> =
        LazyLock::new(PostgresCompatibilityParser::new);
    let parsed = PARSER.parse(sql).map_err(|error| {
        let text = error.to_string();
        refuse::error("42601", text.trim_start_matches("sql parser error: "))
    });
    let mut all = parsed?;
    all.iter_mut().for_each(reflect::simplify);
    Ok(all)
}

/// What a question means.
pub(super) async fn plan(entered: &Entered, statement: Statement) -> PgWireResult<LogicalPlan> {
    let statement = parser::Statement::Statement(Box::new(statement));
    entered.session.plan(statement).await.map_err(|error| refuse::question(&error))
}

/// Prepares statements of one connection.
pub(super) struct Parser {
    entered: Arc<OnceLock<Entered>>,
}

impl Parser {
    pub(super) fn new(entered: Arc<OnceLock<Entered>>) -> Parser {
        Parser { entered }
    }
}

#[async_trait]
impl QueryParser for Parser {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        _: &C,
        sql: &str,
        _: &[Option<Type>],
    ) -> PgWireResult<Option<Prepared>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        let entered = inside(&self.entered)?;
        let mut all = statements(sql)?;
        let (Some(statement), true) = (all.pop(), all.is_empty()) else {
            return match all.is_empty() {
                true => Ok(None),
                false => Err(refuse::error(
                    "42601",
                    "cannot insert multiple commands into a prepared statement",
                )),
            };
        };
        prepare(entered, Command::of(statement)?).await.map(Some)
    }

    fn get_parameter_types(&self, prepared: &Prepared) -> PgWireResult<Vec<Type>> {
        prepared.plan.as_ref().map_or(Ok(Vec::new()), parameter::types)
    }

    fn get_result_schema(
        &self,
        prepared: &Prepared,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        let Some(schema) = &prepared.schema else { return Ok(Vec::new()) };
        encode::fields(schema, format.unwrap_or(&Format::UnifiedText))
    }
}

async fn prepare(entered: &Entered, command: Command) -> PgWireResult<Prepared> {
    let plan = match &command {
        Command::Ask(question) | Command::Copy(question, _) => {
            Some(plan(entered, (**question).clone()).await?)
        }
        _ => None,
    };
    let schema = match &command {
        Command::Ask(_) => plan.as_ref().map(|plan| Arc::clone(plan.schema().inner())),
        Command::Show(name) => Some(shown(name)),
        Command::Fetch(name, _) => {
            entered.cursors.get(name).map(|cursor| Arc::clone(&cursor.schema))
        }
        _ => None,
    };
    Ok(Prepared { command, plan, schema })
}

/// The column of `SHOW`.
pub(super) fn shown(name: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, true)]))
}
