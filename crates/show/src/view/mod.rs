//! Views as data: a TOML file holds a query over the facts of a report and says how its rows are
//! drawn. A site or a user adds a view by adding a file; the shipped charts are made the same way.
//!
//! Files are read and checked here, so that what is wrong has a file and a line. The page gets the
//! checked form as JSON and answers the query itself, because it knows what the reader has chosen.
//! `docs/use/views.md` describes the files.

mod chart;
mod document;
mod query;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Result, Write};

use crate::Json;
use chart::{Chart, Series};
use document::Document;
use query::Expression;

pub use table::{Column, TABLES, Table};

/// What is wrong with a view file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The file, as it was called.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// What is wrong and what would be right.
    pub says: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.file, self.line, self.says)
    }
}

/// One view, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    slug: String,
    title: String,
    note: String,
    place: i64,
    hidden: bool,
    from: &'static Table,
    only: Option<Expression>,
    group: Option<Expression>,
    sort: Option<(Expression, bool)>,
    limit: Option<u64>,
    chart: Chart,
    series: Vec<Series>,
}

/// Views by slug; a later one takes the place of an earlier one with the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Views(BTreeMap<String, View>);

/// The charts that come with netra: slug and text.
const SHIPPED: &[(&str, &str)] = &[
    ("layer-time", include_str!("../../views/layer-time.toml")),
    ("function-calls", include_str!("../../views/function-calls.toml")),
    ("function-time", include_str!("../../views/function-time.toml")),
    ("sizes", include_str!("../../views/sizes.toml")),
    ("rank-time", include_str!("../../views/rank-time.toml")),
    ("rank-operations", include_str!("../../views/rank-operations.toml")),
    ("phase-ranks", include_str!("../../views/phase-ranks.toml")),
    ("system-bytes", include_str!("../../views/system-bytes.toml")),
    ("target-bytes", include_str!("../../views/target-bytes.toml")),
    ("target-shared", include_str!("../../views/target-shared.toml")),
    ("target-spread", include_str!("../../views/target-spread.toml")),
    ("target-alone", include_str!("../../views/target-alone.toml")),
    ("server-bytes", include_str!("../../views/server-bytes.toml")),
    ("site-time", include_str!("../../views/site-time.toml")),
];

impl Views {
    /// The shipped ones.
    #[must_use]
    pub fn shipped() -> Views {
        let mut views = Views::default();
        for (slug, text) in SHIPPED {
            // A test reads them all, so that a shipped view is never the wrong one.
            if let Ok(view) = View::parse(slug, slug, text) {
                views.0.insert((*slug).to_owned(), view);
            }
        }
        views
    }

    /// Takes in a file; its slug is the file's name without `.toml`.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn add(&mut self, file: &str, text: &str) -> std::result::Result<(), Vec<Wrong>> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let slug = name.strip_suffix(".toml").unwrap_or(name);
        let view = View::parse(file, slug, text)?;
        self.0.insert(slug.to_owned(), view);
        Ok(())
    }

    /// All of them for the page, in their order.
    pub(crate) fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        let mut all: Vec<&View> = self.0.values().filter(|view| !view.hidden).collect();
        all.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.slug.cmp(&b.slug)));
        json.open('[')?;
        for view in all {
            json.line()?;
            view.json(json)?;
        }
        json.close(']')
    }
}

impl View {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn parse(file: &str, slug: &str, text: &str) -> std::result::Result<View, Vec<Wrong>> {
        let mut document = Document::new(file, text)?;
        let view = View::read(&mut document, slug);
        document.finish()?;
        view.ok_or_else(Vec::new)
    }

    /// Reads everything there is, so that everything wrong is said at once.
    fn read(document: &mut Document<'_>, slug: &str) -> Option<View> {
        let title = document.text("title")?;
        let note = document.text_or("note", "");
        let place = document.whole("place").unwrap_or(1000);
        let hidden = document.truth("hidden");
        let from = document.table_named("from")?;
        let only = document.expression("where", from, query::Want::Condition);
        let group = document.expression("group", from, query::Want::Row);
        let grouped = group.is_some();
        let sort = document.sort(from, grouped);
        let limit = document.whole("limit").and_then(|limit| u64::try_from(limit).ok());
        let chart = Chart::read(document, from)?;
        let series = chart::series(document, from, grouped, &chart);
        let slug = slug.to_owned();
        Some(View {
            slug,
            title,
            note,
            place,
            hidden,
            from,
            only,
            group,
            sort,
            limit,
            chart,
            series,
        })
    }

    fn json<W: Write>(&self, json: &mut Json<'_, W>) -> Result<()> {
        json.open('{')?;
        for (key, value) in [("slug", &self.slug), ("title", &self.title), ("note", &self.note)] {
            json.key(key)?;
            json.text(value)?;
        }
        json.key("from")?;
        json.text(self.from.name)?;
        for (key, value) in [("where", &self.only), ("group", &self.group)] {
            json.key(key)?;
            Expression::json_or_null(value.as_ref(), json)?;
        }
        json.key("sort")?;
        Expression::json_or_null(self.sort.as_ref().map(|(by, _)| by), json)?;
        json.key("down")?;
        json.truth(self.sort.as_ref().is_some_and(|(_, down)| *down))?;
        json.key("limit")?;
        match self.limit {
            Some(limit) => json.unsigned(limit)?,
            None => json.null()?,
        }
        json.key("chart")?;
        self.chart.json(json)?;
        json.key("series")?;
        json.open('[')?;
        for series in &self.series {
            series.json(json)?;
        }
        json.close(']')?;
        json.close('}')
    }
}

#[cfg(test)]
mod tests {
    use super::{SHIPPED, View, Views};
    use crate::Json;

    const GOOD: &str = "title = \"Slow files\"\nfrom = \"files\"\nwhere = \"seconds > 1\"\nsort = \"-seconds\"\nlimit = 5\n\n[chart]\nkind = \"bars\"\nx = \"path\"\nunit = \"seconds\"\n\n[[series]]\nname = \"time\"\nvalue = \"read_seconds + write_seconds\"\n";

    #[track_caller]
    fn wrong(text: &str, want: &[&str]) {
        let wrong = View::parse("v.toml", "v", text).unwrap_err();
        let said: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(said, want);
    }

    #[test]
    fn every_file_of_a_view_is_shipped() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/views");
        for entry in std::fs::read_dir(folder).expect("the folder of views") {
            let path = entry.expect("a file").path();
            let slug = path.file_stem().expect("a name").to_string_lossy().into_owned();
            assert!(
                SHIPPED.iter().any(|(known, _)| *known == slug),
                "{slug} needs a row in SHIPPED (docs/adding-a-view.md)"
            );
        }
    }

    #[test]
    fn every_shipped_view_is_right() {
        for (slug, text) in SHIPPED {
            if let Err(wrong) = View::parse(slug, slug, text) {
                panic!("{wrong:?}");
            }
        }
        assert_eq!(Views::shipped().0.len(), SHIPPED.len());
    }

    #[test]
    fn a_view_becomes_json() {
        let mut views = Views::default();
        views.add("/home/u/.config/netra/views/slow.toml", GOOD).unwrap();
        let mut out = Vec::new();
        views.json(&mut Json::new(&mut out)).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(read[0]["slug"], "slow");
        assert_eq!(
            read[0]["where"],
            serde_json::json!([">", ["column", "seconds"], ["number", 1.0]])
        );
        assert_eq!(read[0]["down"], true);
        assert_eq!(
            read[0]["series"][0]["value"],
            serde_json::json!(["+", ["column", "read_seconds"], ["column", "write_seconds"]])
        );
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        wrong(
            &GOOD.replace("\"seconds > 1\"", "\"second > 1\""),
            &[
                "v.toml:3: there is no column `second` in files; columns are path, file_system, mount, layer, ranks, shared, reads, writes, opens, seeks, size, bytes_read, bytes_written, read_seconds, write_seconds, metadata_seconds, seconds, stripes",
            ],
        );
        wrong(&GOOD.replace("title", "titel"), &["v.toml:1: `title` is missing"]);
        wrong(&GOOD.replace("limit", "limits"), &["v.toml:5: `limits` is not known here"]);
        wrong(
            &GOOD.replace("kind = \"bars\"", "kind = \"pie\""),
            &["v.toml:8: `kind` is one of bars, boxes, points, table"],
        );
        wrong(
            &GOOD.replace("read_seconds + write_seconds", "path + 1"),
            &["v.toml:14: `+` takes numbers, and path is text"],
        );
        wrong(
            &GOOD.replace("read_seconds + write_seconds", "sum(reads)"),
            &["v.toml:14: `sum` needs a view with `group`"],
        );
        wrong(
            &GOOD.replace("seconds > 1", "seconds >"),
            &["v.toml:3: something is missing at the end of `seconds >`"],
        );
        wrong("title = ", &["v.toml:1: string values must be quoted, expected literal string"]);
    }

    #[test]
    fn a_file_takes_the_place_of_a_shipped_view() {
        let mut views = Views::shipped();
        views.add("layer-time.toml", &format!("hidden = true\n{GOOD}")).unwrap();
        let mut out = Vec::new();
        views.json(&mut Json::new(&mut out)).unwrap();
        assert!(!String::from_utf8(out).unwrap().contains("\"layer-time\""));
    }
}
