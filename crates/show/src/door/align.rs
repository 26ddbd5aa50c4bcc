//! Rows in aligned columns. The first rows decide how wide they are; later ones pass through, so that an answer of any
//! length needs the memory of one screen.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};

use super::cell::Cells;
use super::format::Rows;

/// Rows that are looked at before the first is written.
const LOOKED_AT: usize = 1_000;
/// No column is made wider than this for the sake of alignment.
const WIDEST: usize = 80;

/// Aligned columns.
pub(super) struct Aligned<W> {
    out: W,
    names: Vec<String>,
    units: Vec<String>,
    right: Vec<bool>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    rows: u64,
}

impl<W: Write> Aligned<W> {
    pub(super) fn new(out: W, schema: &SchemaRef) -> Aligned<W> {
        let fields = schema.fields();
        Aligned {
            out,
            names: fields
                .iter()
                .map(|field| crate::plain::plain(field.name().as_bytes()).into_owned())
                .collect(),
            units: fields.iter().map(|field| unit(field)).collect(),
            right: fields.iter().map(|field| is_number(field.data_type())).collect(),
            waiting: Vec::new(),
            widths: None,
            rows: 0,
        }
    }

    fn row(&mut self, row: Vec<String>) -> io::Result<()> {
        self.rows += 1;
        match &self.widths {
            Some(widths) => line(&mut self.out, &row, widths, &self.right),
            None => {
                self.waiting.push(row);
                if self.waiting.len() == LOOKED_AT { self.begin() } else { Ok(()) }
            }
        }
    }

    /// Decides the widths, and writes what waited for them.
    fn begin(&mut self) -> io::Result<()> {
        let mut widths: Vec<usize> = self
            .names
            .iter()
            .zip(&self.units)
            .map(|(name, unit)| width(name).max(width(unit)))
            .collect();
        for row in &self.waiting {
            for (known, cell) in widths.iter_mut().zip(row) {
                *known = (*known).max(width(cell).min(WIDEST));
            }
        }
        line(&mut self.out, &self.names, &widths, &vec![false; widths.len()])?;
        if self.units.iter().any(|unit| !unit.is_empty()) {
            line(&mut self.out, &self.units, &widths, &vec![false; widths.len()])?;
        }
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width + 2)).collect();
        writeln!(self.out, "{}", rule.join("+"))?;
        for row in self.waiting.drain(..) {
            line(&mut self.out, &row, &widths, &self.right)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

impl<W: Write + Send> Rows for Aligned<W> {
    fn rows(&mut self, rows: &RecordBatch) -> io::Result<()> {
        let columns: Vec<Cells<'_>> =
            rows.columns().iter().map(|column| Cells::of(column)).collect();
        for row in 0..rows.num_rows() {
            self.row(columns.iter().map(|column| column.text(row)).collect())?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> io::Result<()> {
        if self.widths.is_none() {
            self.begin()?;
        }
        let word = if self.rows == 1 { "row" } else { "rows" };
        writeln!(self.out, "({} {word})", self.rows)?;
        self.out.flush()
    }
}

/// One line, with a blank around every cell; the last is not padded.
fn line(
    out: &mut impl Write,
    cells: &[String],
    widths: &[usize],
    right: &[bool],
) -> io::Result<()> {
    let mut text = String::new();
    for (place, ((cell, &wide), &right)) in cells.iter().zip(widths).zip(right).enumerate() {
        if place > 0 {
            text.push('|');
        }
        let blank = " ".repeat(wide.saturating_sub(width(cell)));
        let (before, after) = if right { (blank.as_str(), "") } else { ("", blank.as_str()) };
        text.push_str(&format!(" {before}{cell}{after} "));
    }
    writeln!(out, "{}", text.trim_end())
}

/// Letters, which is what alignment needs for all but the widest scripts.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// The unit that the store's documentation gives a column.
fn unit(field: &Field) -> String {
    field.metadata().get("unit").cloned().unwrap_or_default()
}

fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use datafusion::arrow::datatypes::{DataType, Field, Schema};

    use crate::door::{Format, writer};

    fn written(format: Format, batches: &[RecordBatch]) -> String {
        let mut out = Vec::new();
        let mut rows = writer(format, &mut out, &batches[0].schema()).unwrap();
        for batch in batches {
            rows.rows(batch).unwrap();
        }
        rows.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn two_columns(files: Vec<Option<&str>>, bytes: Vec<Option<i64>>) -> RecordBatch {
        let unit = [("unit".to_owned(), "bytes".to_owned())].into();
        let schema = Schema::new(vec![
            Field::new("file", DataType::Utf8, true),
            Field::new("read", DataType::Int64, true).with_metadata(unit),
        ]);
        let columns: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from(files)), Arc::new(Int64Array::from(bytes))];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    #[test]
    fn people_get_aligned_columns_with_units() {
        let rows =
            two_columns(vec![Some("/a"), Some("/long"), None], vec![Some(5), None, Some(1234)]);
        let want = " file  | read
       | bytes
-------+-------
 /a    |     5
 /long |  NULL
 NULL  |  1234
(3 rows)
";
        assert_eq!(written(Format::Table, &[rows]), want);
    }

    #[test]
    fn an_empty_answer_still_has_names() {
        let none = two_columns(vec![], vec![]);
        assert_eq!(written(Format::Csv, std::slice::from_ref(&none)), "file,read\n");
        assert_eq!(written(Format::Json, std::slice::from_ref(&none)), "[]");
        assert_eq!(written(Format::Lines, std::slice::from_ref(&none)), "");
        let table = written(Format::Table, &[none]);
        assert_eq!(table, " file | read\n      | bytes\n------+-------\n(0 rows)\n");
    }

    #[test]
    fn machines_get_nulls_as_their_format_has_them() {
        let rows = two_columns(vec![Some("a,b"), None], vec![None, Some(7)]);
        assert_eq!(written(Format::Csv, std::slice::from_ref(&rows)), "file,read\n\"a,b\",\n,7\n");
        let lines = "{\"file\":\"a,b\",\"read\":null}\n{\"file\":null,\"read\":7}\n";
        assert_eq!(written(Format::Lines, std::slice::from_ref(&rows)), lines);
        let array = "[{\"file\":\"a,b\",\"read\":null},{\"file\":null,\"read\":7}]";
        assert_eq!(written(Format::Json, &[rows]), array);
    }

    #[test]
    fn later_rows_do_not_wait() {
        let many = two_columns(vec![Some("x"); 1_000], vec![Some(1); 1_000]);
        let wide = two_columns(vec![Some("a long name indeed")], vec![Some(2)]);
        let text = written(Format::Table, &[many, wide]);
        assert!(
            text.ends_with(" x    |     1\n a long name indeed |     2\n(1001 rows)\n"),
            "{text}"
        );
    }
}
