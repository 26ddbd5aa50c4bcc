//! A store in a bucket: a server that speaks S3's protocol holds the tables, and everything is as in a directory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::netra::{Done, Place, python};

/// The server; it ends with the test.
struct Bucket {
    server: Child,
    port: u16,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

impl Bucket {
    /// A server with a bucket called `shelf`; nothing where there is no such server.
    fn start() -> Option<Bucket> {
        let python = python()?;
        let has = Command::new(&python).args(["-c", "import moto.server, deltalake"]).output();
        if !has.expect("Python starts").status.success() {
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("a port").port();
        drop(free);
        let mut server = Command::new(python);
        server.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let bucket = Bucket { server: server.expect("Python starts"), port };
        let until = Instant::now() + Duration::from_secs(120);
        while bucket.make() != Some(true) {
            assert!(Instant::now() < until, "the server does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(bucket)
    }

    /// Makes the bucket.
    fn make(&self) -> Option<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(
            stream,
            "PUT /shelf HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n\r\n",
            self.port
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer.split(' ').nth(1) == Some("200"))
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "somebody".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "something".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// The program with a store somewhere.
    #[track_caller]
    fn netra(&self, place: &Place, store: &str, words: &[&str]) -> Done {
        let mut command = place.command(words);
        command.env("NETRA_STORE", store).envs(self.settings());
        let done = command.output().expect("netra starts");
        Done {
            code: done.status.code().expect("netra ends by itself, not by a signal"),
            out: done.stdout,
            err: String::from_utf8(done.stderr).expect("complaints are text"),
        }
    }
}

const STORE: &str = "s3://shelf/of/netra";

#[test]
fn a_store_in_a_bucket_is_one_in_a_directory() {
    let Some(bucket) = Bucket::start() else {
        return eprintln!("skipped: NETRA_TEST_PYTHON names no Python with moto and deltalake");
    };
    let place = Place::with_example();
    let here = place.path("store").display().to_string();
    for store in [STORE, &here] {
        let done = bucket.netra(&place, store, &["import", "wave.darshan"]);
        assert_eq!(done.code, 0, "{store}: {}", done.err);
        assert!(done.err.contains("1 imported into "), "{}", done.err);
        let again = bucket.netra(&place, store, &["import", "wave.darshan"]);
        assert!(again.err.contains("1 known already"), "{store}: {}", again.err);
    }
    assert!(!place.path("s3:").exists());
    let questions = [
        "SELECT job, rank, t, t_ns, function, file, bytes, duration FROM events ORDER BY rank, lane, sequence",
        "SELECT * FROM posix ORDER BY file_id, rank",
        "SELECT sum(calls) AS calls, sum(bytes) AS bytes FROM activity",
    ];
    let mut rows = Vec::new();
    for question in questions {
        let [there, here] = [STORE, &here].map(|store| {
            let done = bucket.netra(&place, store, &["sql", "--format", "json", question]);
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{store}: {question}");
            done.json()
        });
        assert_eq!(there, here, "{question}");
        rows.push(there.as_array().expect("rows").len());
    }
    assert!(rows[0] > 0 && rows[1] > 0, "{rows:?}");
    // Small files are put together, nothing is missing then, and others read the same table.
    for words in [&["store", "compact"][..], &["store", "check", "--deep"], &["store", "stats"]] {
        let done = bucket.netra(&place, STORE, words);
        assert_eq!(done.code, 0, "{words:?}: {}{}", done.text(), done.err);
    }
    let script = "import sys, deltalake\n\
        options = dict(pair.split('=', 1) for pair in sys.argv[2:])\n\
        table = deltalake.DeltaTable(sys.argv[1], storage_options=options)\n\
        print(table.to_pyarrow_table().num_rows)\n";
    let mut judge = Command::new(python().expect("it was there"));
    judge.args(["-c", script, &format!("{STORE}/posix")]);
    judge.args(bucket.settings().iter().map(|(name, value)| format!("{name}={value}")));
    let said = judge.output().expect("Python starts");
    let text = String::from_utf8_lossy(&said.stdout);
    assert_eq!(text.trim(), rows[1].to_string(), "{}", String::from_utf8_lossy(&said.stderr));
    let wrong = bucket.netra(&place, "s3://nobodys/store", &["import", "wave.darshan"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("NoSuchBucket"), "{}", wrong.err);
}

#[test]
fn urls_of_other_storage_are_refused_and_those_that_work_are_named() {
    let place = Place::with_example();
    for store in ["hdfs://host/store", "https://example.org/store", "memory:///"] {
        let done = place.netra(&["sql", "--store", store, "SELECT 1"]);
        assert_eq!(done.code, 2, "{store}: {}", done.err);
        let wanted = format!(
            "{store} is no place of a store: it can be a directory, or a URL with file://, s3://"
        );
        assert!(done.err.contains(&wanted), "{}", done.err);
    }
}
