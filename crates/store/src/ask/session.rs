//! A session: questions of one person, one after the other.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{SchemaProvider as _, TableFunctionImpl};
use datafusion::common::config::Dialect;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;

use super::analysis::{self, Analyses, Results};
use super::answer::{Answer, Bounds, Stopper};
use super::catalog::{Catalogs, Tables};
use super::error::{Error, Kind};
use super::function;
use super::ground::Ground;
use super::right::Who;
use super::source::Source;
use super::tally::Tallying;
use super::{guard, job, name, title};

/// What the store is called where a database has a name.
pub const CATALOG: &str = "netra";
/// Where its tables are.
pub const SCHEMA: &str = "public";

/// Questions of one person. Cheap to make; a connection has its own.
#[derive(Clone)]
pub struct Session {
    context: SessionContext,
    tables: Arc<Tables>,
    stopper: Stopper,
    timeout: Option<Duration>,
    analyses: Arc<Analyses>,
    /// What they made for this session.
    results: Arc<Results>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Session {
    /// Begins a session.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, who: Who, ground: &Ground) -> Session {
        let tables = Arc::new(Tables::new(source, who));
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config(ground.partitions))
            .with_runtime_env(Arc::clone(&ground.runtime))
            .with_catalog_list(Arc::new(Catalogs::new(Arc::clone(&tables))))
            .with_query_planner(Arc::new(guard::ReadOnly))
            .with_physical_optimizer_rule(Arc::new(Tallying))
            // Nothing here reads or writes files that a statement names.
            .with_table_factories(std::collections::HashMap::new())
            .with_file_formats(Vec::new())
            .build();
        let context = SessionContext::new_with_state(state);
        for function in function::scalar() {
            context.register_udf(function);
        }
        let results = Arc::new(Results::default());
        context.register_udtf(analysis::NAME, Arc::clone(&results) as Arc<dyn TableFunctionImpl>);
        Session {
            context,
            tables,
            stopper: Stopper::default(),
            timeout: ground.timeout,
            analyses: Arc::clone(&ground.analyses),
            results,
        }
    }

    /// DataFusion's context, for a door that needs to plan by itself. It cannot change anything either.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Stops what this session is doing.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// How long a question may take; never longer than the ground allows.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Asks one question. Several, separated by semicolons, are refused.
    pub async fn ask(&self, sql: &str) -> super::Result<Answer> {
        let mut bounds = self.bounds(self.timeout);
        let (rows, titles) = bounds
            .hold(async {
                let statement = self.parse(sql)?;
                let plan = self.plan(statement).await?;
                self.execute(plan).await
            })
            .await?;
        Ok(Answer::new(rows, titles, bounds, self.tables.all()))
    }

    /// Runs a plan that [`Session::plan`] made.
    pub async fn run(&self, plan: LogicalPlan, timeout: Option<Duration>) -> super::Result<Answer> {
        let mut bounds = self.bounds(shorter(timeout, self.timeout));
        let (rows, titles) = bounds.hold(self.execute(plan)).await?;
        Ok(Answer::new(rows, titles, bounds, self.tables.all()))
    }

    /// One statement of a text.
    pub fn parse(&self, sql: &str) -> super::Result<Statement> {
        let state = self.context.state();
        let mut all = datafusion::sql::parser::DFParserBuilder::new(sql)
            .with_dialect(&datafusion::sql::sqlparser::dialect::PostgreSqlDialect {})
            .with_recursion_limit(state.config_options().sql_parser.recursion_limit.into())
            .build()
            .and_then(|mut parser| parser.parse_statements())
            .map_err(|error| self.error(&error))?;
        match (all.pop_front(), all.is_empty()) {
            (Some(one), true) => Ok(one),
            (None, _) => Err(Error::new(Kind::Syntax, "there is no question")),
            (Some(_), false) => Err(Error::new(
                Kind::Syntax,
                "these are several statements; one question at a time",
            )),
        }
    }

    /// What a statement means, if it only reads. Analyses that it names are run here: their columns belong to the plan.
    pub async fn plan(&self, mut statement: Statement) -> super::Result<LogicalPlan> {
        guard::statement(&statement)?;
        if let Statement::Statement(inner) = &mut statement {
            analysis::resolve(self, &self.analyses, &self.results, inner).await?;
        }
        self.planned(statement).await
    }

    /// The same for a statement that may name no analysis.
    pub(super) async fn plan_plain(&self, mut statement: Statement) -> super::Result<LogicalPlan> {
        guard::statement(&statement)?;
        if let Statement::Statement(inner) = &mut statement {
            analysis::refuse(inner)?;
        }
        self.planned(statement).await
    }

    async fn planned(&self, mut statement: Statement) -> super::Result<LogicalPlan> {
        if let Statement::Statement(inner) = &mut statement {
            name::resolve(inner);
            job::resolve(self, inner).await?;
        }
        let state = self.context.state();
        let plan = state.statement_to_plan(statement).await.map_err(|error| self.error(&error))?;
        guard::check(&plan).map_err(|error| self.error(&error))?;
        Ok(plan)
    }

    /// Every name that can stand behind FROM.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        self.tables.all()
    }

    /// The columns of a table.
    pub async fn columns(&self, table: &str) -> super::Result<SchemaRef> {
        match self.tables.table(table).await {
            Ok(Some(table)) => Ok(table.schema()),
            Ok(None) => {
                let missing = DataFusionError::Plan(format!("table '{table}' not found"));
                Err(self.error(&missing))
            }
            Err(error) => Err(self.error(&error)),
        }
    }

    /// What DataFusion says, in our words.
    #[must_use]
    pub fn error(&self, error: &DataFusionError) -> Error {
        let error = Error::of(error, &self.tables.all());
        if error.kind != Kind::Function {
            return error;
        }
        let state = self.context.state();
        let plain = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        error.or_function(plain.chain(state.window_functions().keys()).map(String::as_str))
    }

    async fn execute(
        &self,
        plan: LogicalPlan,
    ) -> super::Result<(SendableRecordBatchStream, SchemaRef)> {
        let titles = title::of(&plan);
        let frame = self.context.execute_logical_plan(plan).await;
        let rows = match frame {
            Ok(frame) => frame.execute_stream().await,
            Err(error) => Err(error),
        };
        rows.map(|rows| (rows, titles)).map_err(|error| self.error(&error))
    }

    fn bounds(&self, timeout: Option<Duration>) -> Bounds {
        Bounds::new(&self.stopper, timeout)
    }
}

fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Rows that go through a question together. Each batch costs the same however long it is; with four times the engine's own length
/// questions over everything take a tenth less, and a batch of a few columns still fits into a processor's cache.
const BATCH_ROWS: usize = 1 << 15;

fn config(partitions: usize) -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(BATCH_ROWS)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(true);
    let options = config.options_mut();
    options.sql_parser.dialect = Dialect::PostgreSQL;
    // People and dashboards get the same answer wherever the server stands.
    options.execution.time_zone = Some("+00:00".to_owned());
    // Rows are filtered while files are read; without it a point query decodes whole row groups.
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    config
}
