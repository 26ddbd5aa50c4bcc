//! A server over a made-up store, and the programs that ask it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use netra_event::Bytes;
use netra_show::door::postgres::{Listener, Settings, Tls, Users, entry, serve};
use netra_store::Store;
use netra_store::ask::{Ground, Limits, Who, analysis};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::made::{Made, Size};

pub(crate) const SIZE: Size = Size { jobs: 6, ranks: 4, calls: 500, seed: 7 };

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) made: Made,
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<Store>,
    pub(crate) runtime: Runtime,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::with(None)
    }

    pub(crate) fn with(tls: Option<Tls>) -> Server {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let made = Made::new(SIZE);
        let store = Arc::new(runtime.block_on(made.store(&folder.path().join("store"))));
        let settings = Arc::new(Settings {
            users: Arc::new(users(folder.path())),
            tls,
            administrators: Vec::new(),
            connections: 32,
            ground: Ground::new(&Limits {
                memory: Bytes(64 << 20),
                spill: Bytes(128 << 20),
                analysis: analysis(),
                ..Limits::default()
            })
            .unwrap(),
        });
        let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let tcp = runtime.block_on(tokio::net::TcpListener::bind(here)).unwrap();
        let port = tcp.local_addr().unwrap().port();
        let socket = folder.path().join(".s.PGSQL.5432");
        let unix = runtime.block_on(async { tokio::net::UnixListener::bind(&socket).unwrap() });
        for listener in [Listener::Tcp(tcp), Listener::Unix(unix)] {
            let (store, settings) = (Arc::clone(&store), Arc::clone(&settings));
            runtime.spawn(async move { serve(listener, store, settings).await });
        }
        Server { made, port, folder, store, runtime }
    }

    /// psql with a password, or through the socket of this machine.
    pub(crate) fn psql(&self, how: &[&str], sql: &str) -> Output {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-A", "-t", "-v", "VERBOSITY=verbose"]).args(how).args(["-c", sql]);
        psql.env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("PGPASSWORD", "topsecret");
        psql.output().unwrap()
    }

    pub(crate) fn as_admin(&self, sql: &str) -> Output {
        let port = self.port.to_string();
        self.psql(&["-h", "127.0.0.1", "-p", &port, "-U", "admin", "-d", "netra"], sql)
    }
}

fn users(folder: &Path) -> Users {
    use std::os::unix::fs::PermissionsExt as _;
    let lines = [
        entry("admin", Who::Administrator, "topsecret", b"salt of the admin"),
        entry("bob", Who::User(1001), "hunter2", b"another salt, 16"),
    ];
    let path = folder.join("users");
    std::fs::write(&path, lines.join("\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    Users::read(&path).unwrap()
}

/// The modules that netra brings along, with all the time that a busy machine needs.
fn analysis() -> analysis::Settings {
    let usual = analysis::Settings::usual();
    let python = std::env::var_os("NETRA_TEST_PYTHON").map(PathBuf::from);
    analysis::Settings {
        folders: Vec::new(),
        python: python.unwrap_or(usual.python),
        time: Duration::from_secs(300),
        ..usual
    }
}

/// A Python with the packages that clients need, if the tests were given one.
pub(crate) fn python() -> Option<PathBuf> {
    let python = std::env::var_os("NETRA_TEST_PYTHON").map(PathBuf::from);
    if python.is_none() {
        eprintln!("skipped: NETRA_TEST_PYTHON is not set (cargo xtask test installs it)");
    }
    python
}

/// Whether a program is there.
pub(crate) fn has(program: &str) -> bool {
    let there =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

/// Runs one of the scripts beside this file.
#[track_caller]
pub(crate) fn script(python: &Path, name: &str, args: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client").join(name);
    let output = Command::new(python).arg(script).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "{name}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What a program said.
pub(crate) fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
