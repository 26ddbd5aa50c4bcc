//! Other people's programs read every table, and agree with us row for row: PyPI's `deltalake`, Polars and DuckDB.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod foreign;
mod row;

use folder::folder;
use netra_store::schema::TABLES;
use netra_store::{Place, Store};
use row::rows;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_read_the_same_rows() {
    let folder = folder();
    let place = folder.path().join("store");
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
    println!("{}", foreign::agree(&store, &place, &folder.path().join("ours")).await);
}
