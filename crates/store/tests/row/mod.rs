//! Rows of any table, the same for the same numbers: every kind of column, over several days, with nulls where they may be.

use datafusion::arrow::record_batch::RecordBatch;
use netra_store::schema::{Kind, Table};
use netra_store::{Cell, Sheet};

const DAY: i64 = 86_400_000_000;
const START: i64 = 1_794_807_600_000_000;

/// A row of a table, different for each number, with nulls where a column allows them now and then.
fn row(sheet: &mut Sheet, table: &Table, number: i64) {
    let text = format!("text {}", number % 7);
    for (place, column) in (0..).zip(&table.columns) {
        let cell = match column.kind {
            _ if column.nullable && (number + place) % 3 == 0 => Cell::Null,
            Kind::Text => Cell::Text(&text),
            Kind::Long => Cell::Long(number * 1000 - place),
            Kind::Short => Cell::Long(number % 1000),
            Kind::Double => Cell::Double(number as f64 / 8.0),
            Kind::Flag => Cell::Flag(number % 2 == 0),
            Kind::Time => Cell::Time(START + number * DAY / 4),
            Kind::Longs => Cell::Longs(&[1, 2, 3]),
            Kind::Raw => Cell::Raw(b"\xff\x00raw"),
            Kind::Day => Cell::Null,
        };
        sheet.put(&column.name, cell);
    }
    sheet.end_row().unwrap();
}

pub(crate) fn rows(table: &Table, numbers: std::ops::Range<i64>) -> RecordBatch {
    let mut sheet = Sheet::new(table.name).unwrap();
    numbers.for_each(|number| row(&mut sheet, table, number));
    sheet.finish().unwrap()
}
