//! Real clients: psql, psycopg 3, pandas through SQLAlchemy, JDBC.

use std::path::Path;

use netra_show::door::postgres::Tls;

use crate::server::{Server, has, python, said, script};

#[test]
fn psql_asks_and_is_refused() {
    if !has("psql") {
        return;
    }
    let server = Server::start();
    let rows = server.made.calls.len();
    let check = |sql: &str, want: &str| {
        let (out, wrong) = said(&server.as_admin(sql));
        assert_eq!(out.trim_end(), want, "{sql}: {wrong}");
    };
    check("SELECT count(*) FROM events", &rows.to_string());
    check("SELECT human_bytes(1536), NULL, 'x'", "1.50 KiB||x");
    check("SHOW server_version", "15.0");
    check("SELECT 1; SELECT 2", "1\n2");
    let refused = |sql: &str, code: &str, what: &str| {
        let (_, wrong) = said(&server.as_admin(sql));
        assert!(wrong.contains(code) && wrong.contains(what), "{sql}: {wrong}");
    };
    refused("SELECT * FROM evnts", "42P01", "did you mean \"events\"?");
    refused("SELECT lenght FROM events", "42703", "did you mean \"length\"?");
    refused("DROP TABLE events", "25006", "DROP TABLE is refused");
    refused("COPY events TO '/tmp/x'", "25006", "COPY is refused");
    check("SELECT count(*) FROM events", &rows.to_string());
}

#[test]
fn psql_describes_tables() {
    if !has("psql") {
        return;
    }
    let server = Server::start();
    let (out, wrong) = said(&server.as_admin("\\dt"));
    for table in ["public|events|table", "public|jobs|table", "public|posix|table"] {
        assert!(out.contains(table), "{table} is not in:\n{out}{wrong}");
    }
    let (out, wrong) = said(&server.as_admin("\\d events"));
    for column in ["job|text", "duration|bigint", "t|timestamp with time zone"] {
        assert!(out.contains(column), "{column} is not in:\n{out}{wrong}");
    }
}

#[test]
fn the_wrong_password_database_or_user_stays_outside() {
    if !has("psql") {
        return;
    }
    let server = Server::start();
    let port = server.port.to_string();
    let comes = |user: &str, database: &str| {
        let how = ["-h", "127.0.0.1", "-p", port.as_str(), "-U", user, "-d", database];
        said(&server.psql(&how, "SELECT 1"))
    };
    assert_eq!(comes("admin", "netra").0, "1\n");
    let (out, wrong) = comes("bob", "netra");
    assert!(
        out.is_empty() && wrong.contains("password authentication failed for user \"bob\""),
        "{wrong}"
    );
    let (out, wrong) = comes("mallory", "netra");
    assert!(
        out.is_empty() && wrong.contains("password authentication failed for user \"mallory\""),
        "{wrong}"
    );
    let (out, wrong) = comes("admin", "admin");
    assert!(
        out.is_empty()
            && wrong.contains("database \"admin\" does not exist: the store is \"netra\""),
        "{wrong}"
    );
}

#[test]
fn the_kernel_says_who_is_at_the_socket() {
    if !has("psql") {
        return;
    }
    let server = Server::start();
    let folder = server.folder.path().to_str().unwrap();
    // Whatever name is given: rows are those of the process's own user, who has no jobs here.
    let how = ["-h", folder, "-U", "admin", "-d", "netra"];
    assert_eq!(said(&server.psql(&how, "SELECT count(*) FROM events")).0, "0\n");
    assert_eq!(said(&server.psql(&how, "SELECT count(*) > 0 FROM metrics")).0, "t\n");
}

#[test]
fn python_asks_in_text_and_binary() {
    let Some(python) = python() else { return };
    let server = Server::start();
    let (port, rows) = (server.port.to_string(), server.made.calls.len().to_string());
    let own = server.made.of(1001).count().to_string();
    script(&python, "session.py", &[&port, &rows, "1001", &own]);
}

#[test]
fn java_asks() {
    let jar = Path::new("/usr/share/java/postgresql.jar");
    if !has("java") || !jar.exists() {
        eprintln!("skipped: there is no JDBC driver at {}", jar.display());
        return;
    }
    let Some(python) = python() else { return };
    let server = Server::start();
    let (port, rows) = (server.port.to_string(), server.made.calls.len().to_string());
    script(&python, "jdbc.py", &[&port, jar.to_str().unwrap(), &rows]);
}

#[test]
fn ten_million_rows_need_little_memory() {
    let Some(python) = python() else { return };
    let server = Server::start();
    let before = memory();
    script(&python, "many.py", &[&server.port.to_string(), "10000000"]);
    let grown = memory().saturating_sub(before);
    // 160 MB of rows at least went through; the server's own limit for questions is 64 MiB.
    assert!(grown < 150 << 20, "the server grew by {} MiB", grown >> 20);
}

/// The most that this process had in memory so far, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_certificate_makes_encryption_a_must() {
    if !has("psql") || !has("openssl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=localhost",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(made.status.success());
    let server = Server::with(Some(Tls::read(&certificate, &key).unwrap()));
    let comes = |mode: &str| {
        let how =
            format!("host=127.0.0.1 port={} user=admin dbname=netra sslmode={mode}", server.port);
        said(&server.psql(&["-d", &how], "SELECT 1"))
    };
    assert_eq!(comes("require").0, "1\n", "{}", comes("require").1);
    let (out, wrong) = comes("disable");
    assert!(out.is_empty() && wrong.contains("must use TLS"), "{wrong}");
}

#[test]
fn a_broken_certificate_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(
        &certificate,
        "-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n",
    )
    .unwrap();
    std::fs::write(&key, "nothing").unwrap();
    let error = Tls::read(&certificate, &key).unwrap_err().to_string();
    assert!(error.starts_with(key.to_str().unwrap()), "{error}");
    let error = Tls::read(Path::new("/no/such.pem"), &key).unwrap_err().to_string();
    assert!(error.starts_with("/no/such.pem: "), "{error}");
}
