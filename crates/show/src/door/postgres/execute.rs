//! Statements at work: as plain text, or prepared and bound.

use std::fmt::Debug;
use std::ops::DerefMut as _;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::logical_expr::LogicalPlan;
use datafusion_postgres::pgwire::api::portal::{Format, Portal, PortalExecutionState};
use datafusion_postgres::pgwire::api::query::{
    ExtendedQueryHandler, SimpleQueryHandler, send_describe_response, send_partial_query_response,
};
use datafusion_postgres::pgwire::api::results::{
    DescribePortalResponse, QueryResponse, Response, Tag,
};
use datafusion_postgres::pgwire::api::store::{Entry, PortalStore};
use datafusion_postgres::pgwire::api::{
    ClientInfo, ClientPortalStore, DEFAULT_NAME, PgWireConnectionState,
};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::PgWireBackendMessage;
use datafusion_postgres::pgwire::messages::extendedquery::{
    Describe, Execute, TARGET_TYPE_BYTE_PORTAL,
};
use datafusion_postgres::pgwire::messages::response::TransactionStatus;
use futures::{Sink, stream};
use netra_store::ask::Answer;

use super::command::Command;
use super::connection::{Connection, Entered};
use super::cursor::Cursor;
use super::parse::{self, Parser, Prepared};
use super::{copy, encode, parameter, refuse};

#[async_trait]
impl SimpleQueryHandler for Connection {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let entered = self.inside()?;
        let mut responses = Vec::new();
        for statement in parse::statements(query)? {
            let command = Command::of(statement)?;
            not_aborted(client.transaction_status(), &command)?;
            responses.push(match command {
                Command::Ask(question) => {
                    let plan = parse::plan(entered, *question).await?;
                    Response::Query(answered(entered, plan, &Format::UnifiedText).await?)
                }
                Command::Copy(question, text) => {
                    let plan = parse::plan(entered, *question).await?;
                    Response::CopyOut(copy::lines(run(entered, plan).await?, text)?)
                }
                other => around(entered, other, &Format::UnifiedText).await?,
            });
        }
        if responses.is_empty() {
            responses.push(Response::EmptyQuery);
        }
        Ok(responses)
    }
}

#[async_trait]
impl ExtendedQueryHandler for Connection {
    type Statement = Prepared;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        self.parser()
    }

    /// Rows go out as they come. (The protocol's own way would first gather them all.)
    async fn on_execute<C>(&self, client: &mut C, message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let portal = match client.portal_store().get_portal(name) {
            Some(Entry::Value(portal)) if portal.statement.statement.schema.is_some() => portal,
            _ => return self._on_execute(client, message).await,
        };
        let rows = usize::try_from(message.max_rows).unwrap_or(0);
        client.set_state(PgWireConnectionState::QueryInProgress);
        let state = portal.state();
        let mut state = state.lock().await;
        if let PortalExecutionState::Initial = *state {
            *state = match ExtendedQueryHandler::do_query(self, client, &portal, rows).await? {
                Response::Query(response) => PortalExecutionState::Suspended(response),
                _ => PortalExecutionState::Finished,
            };
        }
        let mut none = QueryResponse::new(Arc::default(), stream::empty());
        let more = match state.deref_mut() {
            PortalExecutionState::Suspended(response) => {
                send_partial_query_response(client, response, rows).await?
            }
            _ => send_partial_query_response(client, &mut none, rows).await?,
        };
        if !more {
            *state = PortalExecutionState::Finished;
        }
        client.set_state(PgWireConnectionState::ReadyForQuery);
        Ok(())
    }

    /// A cursor is described as a portal, which is what some clients take it for.
    async fn on_describe<C>(&self, client: &mut C, message: Describe) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let cursor = match message.target_type {
            TARGET_TYPE_BYTE_PORTAL => self.inside()?.cursors.get(name),
            _ => None,
        };
        match cursor {
            Some(cursor) => {
                let fields = encode::fields(&cursor.schema, &Format::UnifiedText)?;
                send_describe_response(client, &DescribePortalResponse::new(fields)).await
            }
            None => self._on_describe(client, message).await,
        }
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
        _: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let entered = self.inside()?;
        let prepared = &portal.statement.statement;
        not_aborted(client.transaction_status(), &prepared.command)?;
        match (&prepared.command, &prepared.plan) {
            (Command::Ask(_), Some(plan)) => {
                let plan = parameter::bound(plan, portal)?;
                let rows = answered(entered, plan, &portal.result_column_format).await?;
                Ok(Response::Query(rows))
            }
            (Command::Copy(_, text), Some(plan)) => {
                let plan = parameter::bound(plan, portal)?;
                Ok(Response::CopyOut(copy::lines(run(entered, plan).await?, *text)?))
            }
            (other, _) => around(entered, other.clone(), &portal.result_column_format).await,
        }
    }
}

/// After an error, a transaction takes nothing but its end.
fn not_aborted(status: TransactionStatus, command: &Command) -> PgWireResult<()> {
    match (status, command) {
        (TransactionStatus::Error, Command::Commit | Command::Rollback) => Ok(()),
        (TransactionStatus::Error, _) => Err(refuse::error(
            "25P02",
            "current transaction is aborted, commands ignored until end of transaction block",
        )),
        _ => Ok(()),
    }
}

async fn run(entered: &Entered, plan: LogicalPlan) -> PgWireResult<Answer> {
    let answer = entered.session.run(plan, entered.values.timeout()).await;
    answer.map_err(|error| refuse::question(&error))
}

async fn answered(
    entered: &Entered,
    plan: LogicalPlan,
    format: &Format,
) -> PgWireResult<QueryResponse> {
    let answer = run(entered, plan).await?;
    encode::rows(&answer.schema(), answer, format)
}

/// What is no question.
async fn around(entered: &Entered, command: Command, format: &Format) -> PgWireResult<Response> {
    let done = |tag: &str| Ok(Response::Execution(Tag::new(tag)));
    match command {
        Command::Begin => Ok(Response::TransactionStart(Tag::new("BEGIN"))),
        Command::Commit => {
            entered.cursors.close_all();
            Ok(Response::TransactionEnd(Tag::new("COMMIT")))
        }
        Command::Rollback => {
            entered.cursors.close_all();
            Ok(Response::TransactionEnd(Tag::new("ROLLBACK")))
        }
        Command::Set(name, value) => {
            entered.values.set(&name, value)?;
            done("SET")
        }
        Command::Reset => {
            entered.values.reset();
            done("RESET")
        }
        Command::Nothing(tag) => done(tag),
        Command::Show(name) => show(entered, &name, format).map(Response::Query),
        Command::Declare(name, question) => {
            let plan = parse::plan(entered, *question).await?;
            let cursor = Cursor::new(run(entered, plan).await?);
            entered.cursors.open(&name, cursor);
            done("DECLARE CURSOR")
        }
        Command::Fetch(name, rows) => fetch(entered, &name, rows, format).map(Response::Query),
        Command::Close(None) => {
            entered.cursors.close_all();
            done("CLOSE CURSOR ALL")
        }
        Command::Close(Some(name)) if entered.cursors.close(&name) => done("CLOSE CURSOR"),
        Command::Close(Some(name)) => Err(no_cursor(&name)),
        Command::Ask(_) | Command::Copy(..) => {
            Err(refuse::error("XX000", "a question without a plan; please report it"))
        }
    }
}

fn show(entered: &Entered, name: &str, format: &Format) -> PgWireResult<QueryResponse> {
    let value = entered.values.get(name).ok_or_else(|| {
        refuse::error("42704", format!("unrecognized configuration parameter \"{name}\""))
    })?;
    let schema = parse::shown(name);
    let column: ArrayRef = Arc::new(StringArray::from(vec![value]));
    let row = RecordBatch::try_new(Arc::clone(&schema), vec![column])
        .map_err(|error| PgWireError::ApiError(Box::new(error)))?;
    let mut response = encode::rows(&schema, stream::iter([Ok(row)]), format)?;
    response.set_command_tag("SHOW");
    Ok(response)
}

fn fetch(
    entered: &Entered,
    name: &str,
    rows: Option<usize>,
    format: &Format,
) -> PgWireResult<QueryResponse> {
    let cursor = entered.cursors.get(name).ok_or_else(|| no_cursor(name))?;
    let schema = Arc::clone(&cursor.schema);
    let mut response = encode::rows(&schema, cursor.fetch(rows), format)?;
    response.set_command_tag("FETCH");
    Ok(response)
}

fn no_cursor(name: &str) -> PgWireError {
    refuse::error("34000", format!("cursor \"{name}\" does not exist"))
}
