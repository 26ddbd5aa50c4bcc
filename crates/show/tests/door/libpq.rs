//! The example in C, compiled as C and as C++, against a server: its numbers are those of plain loops over the same rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::server::{Server, has, said};

/// What the example prints of the first job.
fn expected(server: &Server) -> Vec<String> {
    let mut sums: BTreeMap<(i64, &str), (i64, i64, i64)> = BTreeMap::new();
    for call in server.made.calls.iter().filter(|call| call.job == 0) {
        if matches!(call.op, "read" | "write") {
            let sum = sums.entry((call.rank, call.op)).or_default();
            *sum = (sum.0 + 1, sum.1 + call.bytes, sum.2 + call.duration);
        }
    }
    let line = |(&(rank, op), &(calls, bytes, nanos)): (&(i64, &str), &(i64, i64, i64))| {
        let seconds = nanos as f64 / 1e9;
        format!("rank {rank}: {calls} calls of {op}, {bytes} bytes, {seconds:.3} s")
    };
    sums.iter().map(line).collect()
}

#[test]
fn the_example_in_c_and_cpp_asks_the_store() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/example/libpq/ranks.c");
    if !has("pg_config") || !has("cc") || !has("c++") {
        return;
    }
    let headers = Command::new("pg_config").arg("--includedir").output().unwrap();
    let headers = String::from_utf8(headers.stdout).unwrap();
    let server = Server::start();
    let program = server.folder.path().join("ranks");
    for compiler in [&["cc", "-std=c11"][..], &["c++", "-x", "c++"]] {
        let mut compile = Command::new(compiler[0]);
        compile.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        compile.arg(&source).arg(format!("-I{}", headers.trim())).arg("-lpq");
        let output = compile.output().unwrap();
        assert!(output.status.success(), "{}", said(&output).1);
        let ask = |job: &str| {
            let port = server.port;
            let way =
                format!("host=127.0.0.1 port={port} dbname=netra user=admin password=topsecret");
            Command::new(&program).args([&way, job]).output().unwrap()
        };
        let (out, wrong) = said(&ask("4700"));
        assert_eq!(out.lines().collect::<Vec<_>>(), expected(&server), "{wrong}");
        // What would be SQL in another place is a job that there is none of.
        let output = ask("4700') OR ('1' = '1");
        let (out, wrong) = said(&output);
        assert_eq!((out.as_str(), output.status.code()), ("", Some(2)), "{wrong}");
        assert!(wrong.contains("there is no job"), "{wrong}");
    }
}
