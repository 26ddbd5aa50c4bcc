//! MUNGE with a real `munged` of our own: its own key, its own socket.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_event::frame::Kind;
use netra_stream::auth::{Door, Method, Munge, Peer, Refusal};
use netra_stream::batch::Form;
use netra_stream::daemon::{Daemon, Settings};
use netra_stream::told::Told;
use netra_stream::topic::Publisher;
use netra_stream::wire::{Address, Proven};
use tempfile::TempDir;

/// A service that ends with the test.
struct Service {
    child: Child,
    folder: TempDir,
}

impl Service {
    /// Nothing where Debian's package `munge` is not installed.
    fn start() -> Option<Service> {
        let daemon = ["/usr/sbin/munged", "/usr/local/sbin/munged"];
        let daemon = daemon.into_iter().find(|path| Path::new(path).exists());
        let Some(daemon) = daemon else {
            eprintln!("skipped: munged is not installed (package munge)");
            return None;
        };
        let folder = TempDir::new().expect("a folder");
        // The service wants that others can reach its socket, and nobody its key.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("rights");
        let at = |name: &str| folder.path().join(name);
        let key: Vec<u8> = (0..=127).collect();
        fs::write(at("key"), key).expect("a key");
        fs::set_permissions(at("key"), fs::Permissions::from_mode(0o600)).expect("rights");
        let mut command = Command::new(daemon);
        command.arg("--foreground").arg("--key-file").arg(at("key"));
        command.arg("--socket").arg(at("socket")).arg("--pid-file").arg(at("pid"));
        command.arg("--log-file").arg(at("log")).arg("--seed-file").arg(at("seed"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("munged starts");
        let mut service = Service { child, folder };
        service.wait();
        Some(service)
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.socket().exists() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert_eq!(self.child.try_wait().expect("a child"), None, "munged ended: {log}");
            assert!(Instant::now() < deadline, "munged is not ready: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn method(&self, users: &[u32]) -> Method {
        let users: BTreeSet<u32> = users.iter().copied().collect();
        Method::Munge(Munge { socket: Some(self.socket()), users })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn both_sides_learn_which_user_the_other_is() {
    let Some(service) = Service::start() else { return };
    let (caller, called) = (service.method(&[]), service.method(&[]));
    let door = Door::new(&called).unwrap();
    let answer = caller.answer(b"hello", b"", &door.challenge()).unwrap();
    let (peer, proof) = door.admit(b"hello", b"", &answer.proof).unwrap();
    let own = Peer { uid: Some(rustix::process::geteuid().as_raw()), proven: true };
    assert_eq!(peer, own);
    assert_eq!(answer.confirm(&proof).unwrap(), own);
}

#[test]
fn a_credential_for_something_else_or_of_somebody_else_is_refused() {
    let Some(service) = Service::start() else { return };
    let own = rustix::process::geteuid().as_raw();
    let method = service.method(&[own]);
    // Made for another greeting.
    let door = Door::new(&method).unwrap();
    let answer = method.answer(b"hello", b"", &door.challenge()).unwrap();
    let refusal = door.admit(b"another hello", b"", &answer.proof).unwrap_err();
    assert!(refusal.to_string().ends_with("it was made for something else"), "{refusal}");
    // A credential that was opened once is spent: MUNGE itself says so.
    let door = Door::new(&method).unwrap();
    let answer = method.answer(b"hello", b"", &door.challenge()).unwrap();
    let (_, proof) = door.admit(b"hello", b"", &answer.proof).unwrap();
    let spent = Door::new(&method).unwrap().admit(b"hello", b"", &answer.proof).unwrap_err();
    assert!(spent.to_string().contains("eplay"), "{spent}");
    answer.confirm(&proof).unwrap();
    // A user that is not on the list.
    let strict = service.method(&[own + 1]);
    let door = Door::new(&strict).unwrap();
    let answer = method.answer(b"hello", b"", &door.challenge()).unwrap();
    let refusal = door.admit(b"hello", b"", &answer.proof).unwrap_err();
    assert!(matches!(refusal, Refusal::User { found, .. } if found == own), "{refusal}");
    // Bytes changed on the way.
    let door = Door::new(&method).unwrap();
    let answer = method.answer(b"hello", b"", &door.challenge()).unwrap();
    let mut proof = answer.proof.clone();
    proof[60] ^= 1;
    assert!(matches!(door.admit(b"hello", b"", &proof), Err(Refusal::Munge(_))));
}

/// A daemon whose peers over TCP MUNGE knows.
fn daemon(service: &Service, name: &str, lines: &str) -> Daemon {
    let at = |name: &str| service.folder.path().join(name).display().to_string();
    let text = format!(
        "state = \"{}\"\ndrain = \"0s\"\n[auth]\nmethod = \"munge\"\nmunge_socket = \"{}\"\n{lines}",
        at(name),
        at("socket")
    );
    let settings = Settings::parse(&text).expect("settings");
    Daemon::start(settings, Arc::new(Told::quiet()), Arc::default()).expect("a daemon")
}

#[test]
fn a_message_crosses_two_daemons_that_munge_vouches_for_and_no_others() {
    let Some(service) = Service::start() else { return };
    let listen = "[[listen]]\naddress = \"tcp:127.0.0.1:0\"\n";
    let hub = daemon(&service, "hub", &format!("{listen}[[sink]]\nkind = \"null\"\n"));
    let up = format!("[[upstream]]\nname = \"up\"\naddress = \"{}\"\n", hub.addresses[0]);
    let near = daemon(&service, "near", &format!("{listen}{up}"));
    let address: Address = near.addresses[0].parse().unwrap();
    let publish = |method: Method| -> std::io::Result<u64> {
        let caller = Proven { method, tls: None };
        let mut publisher = Publisher::connect(&address, &caller, "test")?;
        publisher.publish("t", Form::Text, b"hello")?;
        publisher.finish()
    };
    assert_eq!(publish(service.method(&[])).unwrap(), 1);
    let messages = |daemon: &Daemon| {
        let producers = daemon.intake.state().book.producers;
        let rows = producers.values().flat_map(|of| &of.rows);
        let messages = rows.filter(|((kind, _), _)| *kind == Kind::Message as u8);
        messages.map(|(_, row)| row.items).sum::<u64>()
    };
    let until = Instant::now() + Duration::from_secs(60);
    while messages(&hub) < messages(&near) {
        assert!(Instant::now() < until, "nothing arrived at the hub");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(messages(&hub), 1);
    let refused = publish(Method::Open).unwrap_err().to_string();
    assert!(refused.contains("MUNGE"), "{refused}");
    near.pause();
    hub.pause();
}

#[test]
fn a_service_that_is_gone_is_said() {
    let folder = TempDir::new().unwrap();
    let socket = Some(folder.path().join("nowhere"));
    let method = Method::Munge(Munge { socket, users: BTreeSet::new() });
    let door = Door::new(&method).unwrap();
    let refusal = method.answer(b"hello", b"", &door.challenge()).unwrap_err();
    assert!(matches!(refusal, Refusal::Munge(_) | Refusal::System(_)), "{refusal}");
}
