//! Columns that grow until they are a batch. Only those that somebody wants exist.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::column::Column;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Unsigned,
    Float,
    /// A text that repeats: stored once, and a number in each row.
    Label,
}

/// A column's name and what it holds. Every column may have holes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Head {
    pub(crate) fn new(name: &str, kind: Kind) -> Head {
        Head { name: name.to_owned(), kind }
    }

    fn field(&self) -> Field {
        let kind = match self.kind {
            Kind::Int => DataType::Int64,
            Kind::Unsigned => DataType::UInt64,
            Kind::Float => DataType::Float64,
            Kind::Label => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
        };
        Field::new(&self.name, kind, true)
    }
}

/// The shape of a table, with the columns that are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) schema: SchemaRef,
    /// All columns of the table.
    heads: Arc<[Head]>,
    /// For each of them, its place among the wanted ones.
    places: Vec<Option<usize>>,
    kinds: Vec<Kind>,
}

impl Shape {
    /// Those of `heads` that `wanted` names, in the order of `wanted`; all without it. The error is a
    /// name that is no column.
    pub(crate) fn new(heads: &[Head], wanted: Option<&[String]>) -> Result<Shape, String> {
        let mut places = vec![None; heads.len()];
        let mut chosen = Vec::new();
        match wanted {
            None => {
                chosen.extend(0..heads.len());
            }
            Some(names) => {
                for name in names {
                    let place = heads.iter().position(|head| head.name == *name);
                    let place = place.ok_or_else(|| name.clone())?;
                    if !chosen.contains(&place) {
                        chosen.push(place);
                    }
                }
            }
        }
        for (to, &from) in chosen.iter().enumerate() {
            if let Some(place) = places.get_mut(from) {
                *place = Some(to);
            }
        }
        let chosen: Vec<&Head> = chosen.iter().filter_map(|&place| heads.get(place)).collect();
        let fields: Vec<Field> = chosen.iter().map(|head| head.field()).collect();
        let kinds = chosen.iter().map(|head| head.kind).collect();
        Ok(Shape { schema: Arc::new(Schema::new(fields)), heads: heads.into(), places, kinds })
    }

    /// The number of each column of the table, by its name.
    pub(crate) fn numbers(&self) -> HashMap<&str, usize> {
        let heads = self.heads.iter().enumerate();
        heads.map(|(number, head)| (head.name.as_str(), number)).collect()
    }
}

/// A growing batch.
pub(crate) struct Sheet {
    shape: Shape,
    columns: Vec<Column>,
    rows: usize,
}

impl Sheet {
    pub(crate) fn new(shape: &Shape) -> Sheet {
        let columns = shape.kinds.iter().map(|&kind| Column::new(kind)).collect();
        Sheet { shape: shape.clone(), columns, rows: 0 }
    }

    /// Rows that are complete.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The column of the whole table that has this number, if it is wanted.
    fn column(&mut self, number: usize) -> Option<&mut Column> {
        let place = (*self.shape.places.get(number)?)?;
        self.columns.get_mut(place)
    }

    /// Whole numbers for the next rows.
    pub(crate) fn ints(&mut self, number: usize, values: impl Iterator<Item = i64>) {
        if let Some(Column::Int(rows)) = self.column(number) {
            rows.extend(values);
        }
    }

    /// Whole numbers for the next rows, where there are some.
    pub(crate) fn some_ints(&mut self, number: usize, values: impl Iterator<Item = Option<i64>>) {
        if let Some(Column::Int(rows)) = self.column(number) {
            rows.extend_some(values);
        }
    }

    /// Whole numbers without sign for the next rows.
    pub(crate) fn unsigned(&mut self, number: usize, values: impl Iterator<Item = u64>) {
        if let Some(Column::Unsigned(rows)) = self.column(number) {
            rows.extend(values);
        }
    }

    /// Whole numbers without sign for the next rows, where there are some.
    pub(crate) fn some_unsigned(
        &mut self,
        number: usize,
        values: impl Iterator<Item = Option<u64>>,
    ) {
        if let Some(Column::Unsigned(rows)) = self.column(number) {
            rows.extend_some(values);
        }
    }

    /// Times for the next rows.
    pub(crate) fn floats(&mut self, number: usize, values: impl Iterator<Item = f64>) {
        if let Some(Column::Float(rows)) = self.column(number) {
            rows.extend(values);
        }
    }

    /// The same text in the next `count` rows; no text leaves holes.
    pub(crate) fn label(&mut self, number: usize, text: Option<&[u8]>, count: usize) {
        if let (Some(Column::Label(rows)), Some(text)) = (self.column(number), text) {
            rows.extend(text, count);
        }
    }

    /// Says that `count` rows have been filled in; columns that got nothing have holes there.
    pub(crate) fn end_rows(&mut self, count: usize) {
        self.rows += count;
        for column in &mut self.columns {
            column.fill(self.rows);
        }
    }

    /// The rows so far as a batch; goes on empty. If `narrow`, the numbers of labels are as short as their count
    /// allows: a batch that is the only one needs no type known before.
    pub(crate) fn take(&mut self, narrow: bool) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter_mut().map(|column| column.take(narrow));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut schema = self.shape.schema.clone();
        if narrow {
            let fields =
                schema.fields().iter().zip(&columns).map(|(field, column)| {
                    Field::new(field.name(), column.data_type().clone(), true)
                });
            schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        }
        let options = arrow_array::RecordBatchOptions::new()
            .with_row_count(Some(std::mem::take(&mut self.rows)));
        RecordBatch::try_new_with_options(schema, columns, &options)
    }
}
