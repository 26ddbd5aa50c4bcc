//! Rows that were set aside for a table, as `netra store` counts them and brings them in.

use std::fs;

use crate::import::netra;
use crate::netra::Place;

#[test]
fn rows_that_wait_are_counted_and_enter_their_table_once() {
    let place = Place::with_example();
    let done = netra(&place, &["import", "wave.darshan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let count = || {
        let done = netra(&place, &["sql", "--format", "json", "SELECT count(*) AS n FROM mounts"]);
        done.json()[0]["n"].as_u64().expect("a number")
    };
    let before = count();
    assert!(before > 0);
    // An ordinary Parquet file with the table's columns and a position, under the name that a sink gives it.
    let waiting = place.path("store/_aside/mounts/somebody");
    fs::create_dir_all(&waiting).expect("a folder");
    let file = waiting.join(format!("{:020}-{before}.parquet", 7));
    let rows = "SELECT *, CAST(7 AS BIGINT) AS spool_position FROM mounts";
    let path = file.to_str().expect("a readable path");
    let done = netra(&place, &["sql", "--format", "parquet", "-o", path, rows]);
    assert_eq!(done.code, 0, "{}", done.err);
    let copy = fs::read(&file).expect("a file");
    let stats = netra(&place, &["store", "stats"]);
    let line = stats.text().lines().last().expect("a line");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((words[0], words[1], words[2]), ("mounts", "1", &*before.to_string()), "{line}");
    assert!(line.ends_with("set aside"), "{line}");
    let check = netra(&place, &["store", "check"]);
    let wanted = format!(
        "mounts: {before} rows are set aside and not in it; netra store restore brings them in\n"
    );
    assert_eq!((check.code, check.text()), (1, &*wanted));
    let restore = || {
        let done = netra(&place, &["store", "restore"]);
        (done.code, done.text().to_owned())
    };
    assert_eq!(restore(), (0, format!("mounts: {before} rows entered it\n")));
    assert_eq!(count(), 2 * before);
    // Somebody ended before the file was removed: its rows are known.
    fs::write(&file, copy).expect("a file");
    assert_eq!(restore(), (0, "mounts: 0 rows entered it\n".to_owned()));
    assert_eq!((count(), restore()), (2 * before, (0, "nothing is set aside\n".to_owned())));
    assert_eq!(netra(&place, &["store", "check"]).code, 0);
}
