//! Every question of every panel, asked over the wire with Grafana's macros expanded as Grafana does.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::server::{Server, has, python, said};

const FROM: &str = "2026-11-16T00:00:00Z";
const TO: &str = "2026-11-16T00:10:00Z";
const SECONDS: u32 = 10;

#[test]
fn every_panel_gets_an_answer() {
    if !has("psql") {
        return;
    }
    let server = Server::start();
    let (mut asked, mut empty) = (0, Vec::new());
    let python = python();
    for (place, sql) in questions() {
        if sql.contains("analyse(") && python.is_none() {
            continue;
        }
        let sql = expanded(&sql);
        let (out, wrong) = said(&server.as_admin(&sql));
        assert!(wrong.is_empty(), "{place}: {wrong}\n{sql}");
        asked += 1;
        if out.trim().is_empty() {
            empty.push(place);
        }
    }
    assert!(asked >= 25, "only {asked} questions were found");
    // What the made-up store has nothing of; everything else must show something.
    let nothing = ["files", "is anything missing?", "pressure on nodes", "from their peers"];
    let unexpected: Vec<&String> = empty
        .iter()
        .filter(|place| !nothing.iter().any(|known| place.to_lowercase().ends_with(known)))
        .collect();
    assert!(unexpected.is_empty(), "nothing is shown by {unexpected:?}");
    eprintln!("{asked} questions asked, {} without rows", empty.len());
}

/// Dashboard and panel, with what it asks.
fn questions() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/grafana/dashboards");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let board: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let name = board["title"].as_str().unwrap();
        for variable in board["templating"]["list"].as_array().unwrap() {
            let what = variable["name"].as_str().unwrap();
            all.push((format!("{name}: ${what}"), variable["query"].as_str().unwrap().to_owned()));
        }
        for panel in board["panels"].as_array().unwrap() {
            let title = panel["title"].as_str().unwrap();
            for target in panel["targets"].as_array().unwrap() {
                all.push((
                    format!("{name}: {title}"),
                    target["rawSql"].as_str().unwrap().to_owned(),
                ));
            }
        }
    }
    all
}

/// Variables first, then the interval, then macros, as Grafana's PostgreSQL data source does it.
fn expanded(sql: &str) -> String {
    let mut sql = sql
        .replace("${job:sqlstring}", "'slurm.4700.0'")
        .replace("${job_id}", "4700")
        .replace("$__interval", &format!("{SECONDS}s"));
    let (from, to) = (epoch(FROM), epoch(TO));
    while let Some(at) = sql.find("$__") {
        let open = at + sql[at..].find('(').unwrap();
        let close = open + closing(&sql[open..]);
        let args: Vec<String> =
            sql[open + 1..close].split(',').map(|arg| arg.trim().to_owned()).collect();
        let column = &args[0];
        let group = || format!("floor(extract(epoch from {column})/{SECONDS})*{SECONDS}");
        let text = match &sql[at + 3..open] {
            "time" => format!("{column} AS \"time\""),
            "timeEpoch" => format!("extract(epoch from {column}) as \"time\""),
            "timeFilter" => format!("{column} BETWEEN '{FROM}' AND '{TO}'"),
            "timeFrom" => format!("'{FROM}'"),
            "timeTo" => format!("'{TO}'"),
            "timeGroup" => group(),
            "timeGroupAlias" => format!("{} AS \"time\"", group()),
            "unixEpochFilter" => format!("{column} >= {from} AND {column} <= {to}"),
            other => panic!("Grafana has no macro $__{other}"),
        };
        sql.replace_range(at..=close, &text);
    }
    assert!(!sql.contains('$'), "something was not expanded: {sql}");
    sql
}

fn epoch(time: &str) -> i64 {
    let began = crate::made::BEGAN / 1_000_000;
    began + if time == TO { 600 } else { 0 }
}

/// Where the bracket that opens a text closes.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("a bracket does not close: {text}");
}
