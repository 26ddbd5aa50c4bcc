//! Rows on their way into a table: columns by name, sorted, apart by day.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, new_null_array};
use datafusion::arrow::compute::{SortColumn, cast, concat_batches, lexsort_to_indices, take};
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimestampMicrosecondType};
use datafusion::arrow::record_batch::RecordBatch;

use crate::calendar::day_of;
use crate::schema::{Column, DAY, Kind, Table};
use crate::{Error, Result};

/// Whether the writer takes an array for a column as it is.
fn is_fit(column: &Column, found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => {
            column.kind == Kind::Text && matches!(**values, DataType::Utf8)
        }
        found => *found == column.kind.stored(),
    }
}

/// The columns of the table in their order; what the rows do not have is null, text may come in any form.
///
/// # Errors
/// A column is missing that may not be null, or nobody knows it, or it is something else.
pub(crate) fn fit(table: &'static Table, batch: &RecordBatch) -> Result<RecordBatch> {
    let wrong = |why: String| Error::Rows { table: table.name, why };
    for field in batch.schema().fields() {
        if table.column(field.name()).is_none() && field.name() != DAY {
            return Err(wrong(format!("no column is called {}", field.name())));
        }
    }
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(table.columns.len());
    let mut fields: Vec<Field> = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let array = match batch.column_by_name(&column.name) {
            Some(array) if is_fit(column, array.data_type()) => Arc::clone(array),
            Some(array) => cast(array, &column.kind.stored()).map_err(|_| {
                let (name, found) = (&column.name, array.data_type());
                wrong(format!("{name} is {found}, and should be {}", column.kind.stored()))
            })?,
            None => new_null_array(&column.kind.stored(), batch.num_rows()),
        };
        if !column.nullable && array.null_count() > 0 {
            return Err(wrong(format!("{} is missing in some rows", column.name)));
        }
        fields.push(Field::new(&column.name, array.data_type().clone(), column.nullable));
        columns.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The days of rows that were fitted.
fn days(table: &Table, batch: &RecordBatch) -> Vec<i32> {
    let times = batch.column_by_name(table.time);
    let times = times.and_then(|times| times.as_primitive_opt::<TimestampMicrosecondType>());
    times.map_or_else(Vec::new, |times| times.values().iter().map(|&t| day_of(t)).collect())
}

/// Rows that were fitted, sorted, apart by day.
pub(crate) fn sorted(
    table: &'static Table,
    batches: &[RecordBatch],
) -> Result<Vec<(i32, RecordBatch)>> {
    let Some(first) = batches.first() else { return Ok(Vec::new()) };
    let whole = match batches {
        [one] => one.clone(),
        // Dictionaries of different batches differ: they become plain text together.
        many => {
            let plain: Result<Vec<RecordBatch>> =
                many.iter().map(|batch| plain(table, batch)).collect();
            let plain = plain?;
            let schema = plain.first().map_or_else(|| first.schema(), RecordBatch::schema);
            concat_batches(&schema, &plain)?
        }
    };
    let by = table.sort.iter().filter_map(|name| whole.column_by_name(name));
    let by: Vec<SortColumn> =
        by.map(|values| SortColumn { values: Arc::clone(values), options: None }).collect();
    let order = lexsort_to_indices(&by, None)?;
    let columns: std::result::Result<Vec<ArrayRef>, _> =
        whole.columns().iter().map(|column| take(column, &order, None)).collect();
    split(table, RecordBatch::try_new(whole.schema(), columns?)?)
}

/// Sorted rows, apart by day.
pub(crate) fn split(table: &'static Table, batch: RecordBatch) -> Result<Vec<(i32, RecordBatch)>> {
    let days = days(table, &batch);
    let Some(&first) = days.first() else { return Ok(Vec::new()) };
    if days.iter().all(|&day| day == first) {
        return Ok(vec![(first, batch)]);
    }
    let mut distinct = days.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut parts = Vec::new();
    for day in distinct {
        let keep: datafusion::arrow::array::BooleanArray =
            days.iter().map(|&of| Some(of == day)).collect();
        parts.push((day, datafusion::arrow::compute::filter_record_batch(&batch, &keep)?));
    }
    Ok(parts)
}

/// Text as it is stored.
pub(crate) fn plain(table: &Table, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = table.columns.iter().zip(batch.columns());
    let columns: std::result::Result<Vec<ArrayRef>, _> =
        columns.map(|(column, array)| cast(array, &column.kind.stored())).collect();
    Ok(RecordBatch::try_new(table.stored(), columns?)?)
}

/// Rows as they are asked: with the day, and text as queries want it.
pub(crate) fn asked(table: &Table, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = table.columns.iter().zip(batch.columns());
    let columns: std::result::Result<Vec<ArrayRef>, _> = columns
        .map(|(column, array)| match array.data_type() {
            // There is no way from a dictionary to views but over plain text.
            DataType::Dictionary(..) => {
                cast(&cast(array, &column.kind.stored())?, &column.kind.asked())
            }
            _ => cast(array, &column.kind.asked()),
        })
        .collect();
    let mut columns = columns?;
    let days = datafusion::arrow::array::Date32Array::from(days(table, batch));
    columns.push(Arc::new(days));
    Ok(RecordBatch::try_new(table.asked(), columns)?)
}
