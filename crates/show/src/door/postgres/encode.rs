//! Rows on the wire, encoded as they come.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion_postgres::arrow_pg::datatypes::{arrow_schema_to_pg_fields, encode_recordbatch};
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{FieldInfo, QueryResponse};
use datafusion_postgres::pgwire::error::PgWireResult;
use futures::{Stream, StreamExt as _, stream};
use netra_store::ask;

use super::refuse;

/// Names and types of columns, in the format that the client wants them.
pub(super) fn fields(schema: &SchemaRef, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    if let Format::Individual(all) = format
        && all.len() != schema.fields().len()
    {
        let (said, are) = (all.len(), schema.fields().len());
        return Err(refuse::error(
            "08P01",
            format!("the client gives formats for {said} columns, there are {are}"),
        ));
    }
    arrow_schema_to_pg_fields(schema, format, None)
}

/// An answer as the protocol's machine sends it, a row at a time.
pub(super) fn rows(
    schema: &SchemaRef,
    batches: impl Stream<Item = ask::Result<RecordBatch>> + Send + 'static,
    format: &Format,
) -> PgWireResult<QueryResponse> {
    let fields = Arc::new(fields(schema, format)?);
    let known = Arc::clone(&fields);
    let rows = batches.flat_map(move |batch| match batch {
        Ok(batch) => stream::iter(encode_recordbatch(Arc::clone(&known), batch)).left_stream(),
        Err(error) => stream::once(async move { Err(refuse::question(&error)) }).right_stream(),
    });
    Ok(QueryResponse::new(fields, rows))
}
