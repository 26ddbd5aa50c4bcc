//! `COPY … TO STDOUT`: the rows of a question as lines, which is how some clients fetch much.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::sql::sqlparser::ast::CopyOption;
use datafusion_postgres::arrow_pg::encoder::encode_value;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{
    CopyCsvOptions, CopyEncoder, CopyResponse, CopyTextOptions, FieldInfo,
};
use datafusion_postgres::pgwire::error::PgWireResult;
use datafusion_postgres::pgwire::messages::copy::CopyData;
use futures::{StreamExt as _, stream};
use netra_store::ask::Answer;

use super::{encode, refuse};

/// How the lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// Tabs between columns, `\N` for nothing.
    Tabs,
    /// Commas.
    Csv,
    /// PostgreSQL's own binary form.
    Binary,
}

impl Text {
    pub(super) fn of(options: &[CopyOption]) -> PgWireResult<Text> {
        let mut text = Text::Tabs;
        for option in options {
            text = match option {
                CopyOption::Format(name) => match name.value.to_lowercase().as_str() {
                    "text" => Text::Tabs,
                    "csv" => Text::Csv,
                    "binary" => Text::Binary,
                    other => {
                        return Err(refuse::error("22023", format!("there is no format {other}")));
                    }
                },
                CopyOption::Header(false) | CopyOption::Encoding(_) => text,
                other => {
                    return Err(refuse::error(
                        "0A000",
                        format!("COPY with {other} is not known here"),
                    ));
                }
            };
        }
        Ok(text)
    }

    fn encoder(self, fields: Arc<Vec<FieldInfo>>) -> CopyEncoder {
        match self {
            Text::Tabs => CopyEncoder::new_text(fields, CopyTextOptions::default()),
            Text::Csv => CopyEncoder::new_csv(fields, CopyCsvOptions::default()),
            Text::Binary => CopyEncoder::new_binary(fields),
        }
    }
}

/// An answer as lines, a batch at a time.
pub(super) fn lines(answer: Answer, text: Text) -> PgWireResult<CopyResponse> {
    let schema = answer.schema();
    let format = if text == Text::Binary { Format::UnifiedBinary } else { Format::UnifiedText };
    let fields = Arc::new(encode::fields(&schema, &format)?);
    let columns = fields.len();
    let mut encoder = text.encoder(Arc::clone(&fields));
    let lines = answer.flat_map(move |batch| {
        let lines = match batch {
            Ok(batch) => each(&mut encoder, &fields, &batch),
            Err(error) => vec![Err(refuse::question(&error))],
        };
        stream::iter(lines)
    });
    let code = i8::from(text == Text::Binary);
    Ok(CopyResponse::new(code, columns, lines))
}

fn each(
    encoder: &mut CopyEncoder,
    fields: &[FieldInfo],
    batch: &RecordBatch,
) -> Vec<PgWireResult<CopyData>> {
    let schema = batch.schema();
    (0..batch.num_rows())
        .map(|row| {
            for (place, column) in batch.columns().iter().enumerate() {
                encode_value(encoder, column, row, schema.field(place), &fields[place])?;
            }
            Ok(encoder.take_copy())
        })
        .collect()
}
