//! Other people's programs as judges: PyPI's `deltalake`, Polars and DuckDB read every table and must agree with us row for row.
//!
//! `NETRA_TEST_PYTHON` names a Python that has them; `cargo xtask test` sets it.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use datafusion::arrow::compute::concat_batches;
use datafusion::prelude::SessionContext;
use deltalake::parquet::arrow::ArrowWriter;
use netra_store::Store;
use netra_store::schema::TABLES;

/// Compares the store at a place, and says how much; what netra says of it is written to a folder.
pub(crate) async fn agree(store: &Store, place: &Path, ours: &Path) -> String {
    let Some(python) = std::env::var_os("NETRA_TEST_PYTHON") else {
        return "skipped: deltalake, Polars, DuckDB: NETRA_TEST_PYTHON is not set".to_owned();
    };
    std::fs::create_dir(ours).unwrap();
    let session = SessionContext::new_with_config(Store::settings());
    assert!(store.register(&session).await.unwrap().is_empty());
    for table in TABLES.iter() {
        // Others find no table before its first row.
        if !place.join(table.name).is_dir() {
            continue;
        }
        let answer = session.sql(&format!("select * from {}", table.name)).await.unwrap();
        let answer = answer.collect().await.unwrap();
        let all = concat_batches(&table.asked(), &answer).unwrap();
        let file = File::create(ours.join(format!("{}.parquet", table.name))).unwrap();
        let mut writer = ArrowWriter::try_new(file, all.schema(), None).unwrap();
        writer.write(&all).unwrap();
        writer.close().unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge.py");
    let said = Command::new(python).arg(script).args([place, ours]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    text
}
