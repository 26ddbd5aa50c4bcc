//! Other people's programs read every table, and agree with us row for row: PyPI's `deltalake`, Polars and DuckDB.
//!
//! `NETRA_TEST_PYTHON` names a Python that has them; `cargo xtask test` sets it.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod row;

use std::fs::File;
use std::process::Command;

use datafusion::arrow::compute::concat_batches;
use datafusion::prelude::SessionContext;
use deltalake::parquet::arrow::ArrowWriter;
use folder::folder;
use netra_store::schema::TABLES;
use netra_store::{Place, Store};
use row::rows;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_read_the_same_rows() {
    let Some(python) = std::env::var_os("NETRA_TEST_PYTHON") else {
        eprintln!("skipped: deltalake, Polars, DuckDB: NETRA_TEST_PYTHON is not set");
        return;
    };
    let folder = folder();
    let (place, ours) = (folder.path().join("store"), folder.path().join("ours"));
    std::fs::create_dir(&ours).unwrap();
    let store = Store::create(Place::directory(&place).unwrap()).unwrap();
    for table in TABLES.iter() {
        for from in [0, 20, 40] {
            store.append(table.name, &[rows(table, from..from + 20)], None).await.unwrap();
        }
    }
    // Some are put together, some expire, some logs are summed up: others must follow all of it.
    for name in ["events", "activity", "posix"] {
        store.compact(name, 2).await.unwrap();
        store.checkpoint(name, 1).await.unwrap();
    }
    store.expire("metrics", None, Some(12_000)).await.unwrap();
    for table in TABLES.iter() {
        let session = SessionContext::new_with_config(Store::settings());
        assert!(store.register(&session).await.unwrap().is_empty());
        let answer = session.sql(&format!("select * from {}", table.name)).await.unwrap();
        let answer = answer.collect().await.unwrap();
        let all = concat_batches(&table.asked(), &answer).unwrap();
        let file = File::create(ours.join(format!("{}.parquet", table.name))).unwrap();
        let mut writer = ArrowWriter::try_new(file, all.schema(), None).unwrap();
        writer.write(&all).unwrap();
        writer.close().unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge.py");
    let said = Command::new(python).arg(script).args([&place, &ours]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    println!("{text}");
}
