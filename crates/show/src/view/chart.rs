//! How the rows of a view are drawn.

use std::io::{Result, Write};

use super::document::Document;
use super::query::{Expression, Want};
use super::table::Table;
use crate::Json;

const KINDS: &[&str] = &["bars", "boxes", "points", "table"];
const UNITS: &[&str] = &["count", "seconds", "bytes", "share"];
const SCALES: &[&str] = &["linear", "log"];
const COLOURS: &[&str] = &["plain", "strong", "read", "write", "metadata"];

/// A chart's axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    kind: &'static str,
    x: Expression,
    unit: &'static str,
    scale: &'static str,
    axis: String,
    /// A chart for each of these values.
    per: Option<Expression>,
    /// Bars that fit; of more, neighbours are drawn as the largest of them.
    most: u64,
    /// A line across: the median of the first series.
    median: bool,
}

/// One row of bars, points or cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    name: String,
    value: Expression,
    colour: &'static str,
}

impl Chart {
    pub(super) fn read(document: &mut Document<'_>, from: &'static Table) -> Option<Chart> {
        document.within("chart", |chart| {
            let kind = chart.among("kind", KINDS, None)?;
            let x = chart.expression("x", from, Want::Row);
            if x.is_none() {
                chart.text("x");
            }
            Some(Chart {
                kind,
                unit: chart.among("unit", UNITS, Some("count"))?,
                scale: chart.among("scale", SCALES, Some("linear"))?,
                axis: chart.text_or("axis", ""),
                per: chart.expression("per", from, Want::Row),
                most: chart.whole("most").and_then(|most| u64::try_from(most).ok()).unwrap_or(128),
                median: chart.truth("median"),
                x: x?,
            })
        })
    }

    pub(super) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('{')?;
        for (key, value) in
            [("kind", self.kind), ("unit", self.unit), ("scale", self.scale), ("axis", &self.axis)]
        {
            json.key(key)?;
            json.text(value)?;
        }
        json.key("x")?;
        self.x.json(json)?;
        json.key("per")?;
        Expression::json_or_null(self.per.as_ref(), json)?;
        json.key("most")?;
        json.unsigned(self.most)?;
        json.key("median")?;
        json.truth(self.median)?;
        json.close('}')
    }
}

/// The series; a chart without any is wrong, and boxes have exactly five.
pub(super) fn series(
    document: &mut Document<'_>,
    from: &'static Table,
    grouped: bool,
    chart: &Chart,
) -> Vec<Series> {
    let want = if grouped { Want::Group } else { Want::Row };
    let found = document.each("series", |one| {
        let name = one.text("name")?;
        let value = one.expression("value", from, want);
        if value.is_none() {
            one.text("value");
        }
        let colour = one.among("colour", COLOURS, Some("plain"))?;
        Some(Series { name, value: value?, colour })
    });
    if chart.kind == "boxes" && found.len() != 5 {
        let says =
            "boxes need five [[series]]: least, lower quartile, median, upper quartile, most";
        document.complain(0, says.into());
    } else if found.is_empty() {
        document.complain_once("a view needs at least one [[series]]");
    }
    found
}

impl Series {
    pub(super) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('{')?;
        json.key("name")?;
        json.text(&self.name)?;
        json.key("colour")?;
        json.text(self.colour)?;
        json.key("value")?;
        self.value.json(json)?;
        json.close('}')
    }
}
