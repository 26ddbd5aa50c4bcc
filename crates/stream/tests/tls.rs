//! Daemons over encrypted connections: what is believed, what is refused, and that nothing of it can be
//! read on the way. Certificates are made here, by authorities of our own.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use netra_event::frame::{Kind, Producer};
use netra_stream::auth::{Method, Secret};
use netra_stream::batch::Form;
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Listen, Settings, SinkKind, SinkSettings, Trust, Upstream};
use netra_stream::frame::{self, Subject};
use netra_stream::told::Told;
use netra_stream::topic::{Publisher, Received, Subscriber};
use netra_stream::wire::tls::Files;
use netra_stream::wire::{Address, Caller as _, Hello, Proven, Purpose, VERSIONS};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// An authority, and the folder in which its certificates lie.
struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(place: &Path, name: &str) -> Authority {
        let folder = place.join(name);
        fs::create_dir(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        fs::write(folder.join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { folder, issuer: Issuer::new(params, key) }
    }

    /// A certificate for these hosts and its key; with a year, it ended then.
    fn certify(&self, name: &str, hosts: &[&str], until: Option<i32>) -> (PathBuf, PathBuf) {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        if let Some(year) = until {
            params.not_before = rcgen::date_time_ymd(1999, 1, 1);
            params.not_after = rcgen::date_time_ymd(year, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let paths = (self.path(&format!("{name}.pem")), self.path(&format!("{name}.key")));
        fs::write(&paths.0, certificate.pem()).unwrap();
        fs::write(&paths.1, key.serialize_pem()).unwrap();
        fs::set_permissions(&paths.1, fs::Permissions::from_mode(0o600)).unwrap();
        paths
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn ca(&self) -> Option<PathBuf> {
        Some(self.path("ca.pem"))
    }
}

fn files(own: Option<(PathBuf, PathBuf)>, ca: Option<PathBuf>, clients: Option<PathBuf>) -> Files {
    let (certificate, key) = own.unzip();
    Files { certificate, key, ca, clients }
}

fn start(settings: Settings) -> Daemon {
    Daemon::start(settings, Arc::new(Told::quiet()), Arc::new(Clock::default())).unwrap()
}

fn settings(place: &Path, name: &str, tls: Option<Files>) -> Settings {
    Settings { state: place.join(name), drain: Duration::ZERO, tls, ..Settings::nothing() }
}

fn hub(place: &Path, tls: Option<Files>, trust: Trust) -> Daemon {
    let address = "tcp:127.0.0.1:0".parse().unwrap();
    start(Settings {
        trust,
        listen: vec![Listen::new(address)],
        sinks: vec![SinkSettings {
            name: "null".to_owned(),
            kind: SinkKind::Null,
            optional: false,
        }],
        ..settings(place, "hub", tls)
    })
}

fn address(hub: &Daemon) -> Address {
    hub.addresses[0].parse().unwrap()
}

fn sender(place: &Path, to: &Address, tls: Option<Files>) -> Daemon {
    let upstreams = vec![Upstream { name: "up".to_owned(), address: to.clone(), optional: false }];
    start(Settings { upstreams, ..settings(place, "sender", tls) })
}

fn events(from: u64, count: u32) -> Vec<u8> {
    let mut body = Vec::new();
    for index in from..from + u64::from(count) {
        // Nothing that could be made small: it shall fill buffers.
        let words =
            [index, index.wrapping_mul(0x9e37_79b9_7f4a_7c15), index.reverse_bits(), 19 << 32];
        body.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
    }
    let producer = Producer { host: 1, start: 2, pid: 3 };
    let subject =
        Subject { kind: Kind::Events, producer, lane: 0, from, count, events: count, time: 0 };
    let mut bytes = Vec::new();
    frame::seal(&subject, &body, &mut bytes).unwrap();
    bytes
}

fn received(daemon: &Daemon) -> u64 {
    daemon.intake.state().book.producers.values().map(|of| of.received()).sum()
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn call(to: &Address, method: Method, tls: Option<&Files>) -> Result<(), String> {
    let tls = tls.map(|files| files.load().unwrap().client.unwrap());
    let (name, purpose) = ("a test".to_owned(), Purpose::Deliver);
    let hello = Hello { versions: VERSIONS, name, spool: 0, time: 0, purpose };
    Proven { method, tls }.call(to, &hello).map(|_| ()).map_err(|error| error.to_string())
}

/// Hears everything that goes between a caller and a hub.
fn tap(to: &Address) -> (Address, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = format!("tcp:{}", listener.local_addr().unwrap()).parse().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (there, all) = (to.to_string().trim_start_matches("tcp:").to_owned(), Arc::clone(&heard));
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            let (caller, called) = (caller.unwrap(), TcpStream::connect(&there).unwrap());
            for (mut from, mut to) in
                [(caller.try_clone().unwrap(), called.try_clone().unwrap()), (called, caller)]
            {
                let all = Arc::clone(&all);
                std::thread::spawn(move || {
                    let mut bytes = [0; 64 << 10];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        all.lock().unwrap().extend_from_slice(&bytes[..count]);
                        if to.write_all(&bytes[..count]).is_err() {
                            break;
                        }
                    }
                    to.shutdown(Shutdown::Both).ok();
                });
            }
        }
    });
    (here, heard)
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn much_crosses_an_encrypted_connection_and_none_of_it_can_be_read() {
    let place = TempDir::new().unwrap();
    let authority = Authority::new(place.path(), "authority");
    let own = authority.certify("hub", &["127.0.0.1"], None);
    // More, as it is sent, than the window and every buffer below.
    let frames: Vec<Vec<u8>> = (0..90).map(|number| events(number * 5000, 5000)).collect();
    for encrypted in [true, false] {
        let place = place.path().join(if encrypted { "secret" } else { "open" });
        fs::create_dir(&place).unwrap();
        let set = |files: Files| encrypted.then_some(files);
        let hub = hub(&place, set(files(Some(own.clone()), None, None)), Trust::Open);
        let (address, heard) = tap(&address(&hub));
        let sender = sender(&place, &address, set(files(None, authority.ca(), None)));
        for frame in &frames {
            sender.intake.offer(frame).unwrap();
        }
        poll("everything arrives", || received(&hub) == 450_000);
        poll("everything is acknowledged", || sender.intake.is_drained());
        // Later frames, one by one, in both directions' silence.
        for number in 90..95 {
            sender.intake.offer(&events(number * 5000, 1)).unwrap();
            poll("the next arrives", || received(&hub) == 450_000 + number - 89);
        }
        let heard = heard.lock().unwrap();
        // Longer than the magic alone, whose few bytes come by chance in so many.
        assert_eq!(holds(&heard, &frames[7][..16]), !encrypted);
        assert_eq!(holds(&heard, &frames[7][100..200]), !encrypted);
        assert!(heard.len() > 9_000_000, "{}", heard.len());
        drop(heard);
        sender.pause();
        hub.pause();
    }
}

#[test]
fn a_hub_is_believed_only_with_a_certificate_for_its_host_of_the_right_authority() {
    let place = TempDir::new().unwrap();
    let right = Authority::new(place.path(), "right");
    let wrong = Authority::new(place.path(), "wrong");
    for (number, (authority, host, says)) in [
        (&right, "127.0.0.1", Ok(())),
        (&right, "hub.example", Err("not valid for")),
        (&wrong, "127.0.0.1", Err("UnknownIssuer")),
    ]
    .into_iter()
    .enumerate()
    {
        let place = place.path().join(number.to_string());
        fs::create_dir(&place).unwrap();
        let own = authority.certify(&format!("hub{number}"), &[host], None);
        let hub = hub(&place, Some(files(Some(own), None, None)), Trust::Open);
        let ca = files(None, right.ca(), None);
        match (call(&address(&hub), Method::Open, Some(&ca)), says) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            other => panic!("{host}: {other:?}"),
        }
        let sender = sender(&place, &address(&hub), Some(ca));
        sender.intake.offer(&events(0, 10)).unwrap();
        match says {
            Ok(()) => poll("it arrives", || received(&hub) == 10),
            Err(_) => {
                let lost = &sender.intake.told.counters.upstream_lost;
                poll("it is refused", || lost.load(Ordering::Relaxed) >= 2);
                assert_eq!(received(&hub), 0);
            }
        }
        sender.pause();
        hub.pause();
    }
}

#[test]
fn callers_show_certificates_where_they_are_asked_for_them() {
    let place = TempDir::new().unwrap();
    let (site, others) =
        (Authority::new(place.path(), "site"), Authority::new(place.path(), "others"));
    let own = site.certify("hub", &["127.0.0.1"], None);
    let hub = hub(place.path(), Some(files(Some(own), None, site.ca())), Trust::Open);
    let node = site.certify("node", &["n1.example"], None);
    let stranger = others.certify("node", &["n1.example"], None);
    let old = site.certify("old", &["n1.example"], None);
    for (own, welcome) in [(Some(node.clone()), true), (None, false), (Some(stranger), false)] {
        let said = call(&address(&hub), Method::Open, Some(&files(own, site.ca(), None)));
        assert_eq!(said.is_ok(), welcome, "{said:?}");
    }
    // A certificate with the key of another is refused before anybody is called.
    let mixed = files(Some((node.0.clone(), old.1)), site.ca(), None).load().unwrap_err();
    assert!(mixed.iter().any(|(key, _)| *key == "certificate"), "{mixed:?}");
    let sender = sender(place.path(), &address(&hub), Some(files(Some(node), site.ca(), None)));
    sender.intake.offer(&events(0, 10)).unwrap();
    poll("it arrives", || received(&hub) == 10);
    sender.pause();
    hub.pause();
}

#[test]
fn whoever_does_not_encrypt_and_whoever_does_are_told_apart() {
    let place = TempDir::new().unwrap();
    let authority = Authority::new(place.path(), "authority");
    let own = authority.certify("hub", &["127.0.0.1"], None);
    let encrypted = hub(place.path(), Some(files(Some(own), None, None)), Trust::Open);
    let refused = call(&address(&encrypted), Method::Open, None).unwrap_err();
    assert!(refused.contains("does it want TLS"), "{refused}");
    // Garbage, and a beginning that nobody goes on with.
    let plain_address = encrypted.addresses[0].trim_start_matches("tcp:").to_owned();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\xff\xff", &[0xff; 5000]] {
        TcpStream::connect(&plain_address).unwrap().write_all(bytes).ok();
    }
    let half: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(&plain_address).unwrap()).collect();
    let ca = files(None, authority.ca(), None);
    call(&address(&encrypted), Method::Open, Some(&ca)).unwrap();
    drop(half);
    encrypted.pause();
    let open = place.path().join("open");
    fs::create_dir(&open).unwrap();
    let plain = hub(&open, None, Trust::Open);
    let refused = call(&address(&plain), Method::Open, Some(&ca)).unwrap_err();
    assert!(refused.contains("TLS"), "{refused}");
    assert_eq!(received(&plain), 0);
    plain.pause();
}

#[test]
fn publishers_and_subscribers_prove_themselves_over_an_encrypted_connection() {
    let place = TempDir::new().unwrap();
    let authority = Authority::new(place.path(), "authority");
    let own = authority.certify("hub", &["127.0.0.1"], None);
    let secret = place.path().join("secret");
    fs::write(&secret, "a secret of many bytes").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let trust = Trust::Secret(secret.clone());
    let hub = hub(place.path(), Some(files(Some(own), None, None)), trust);
    let caller = Proven {
        method: Method::Secret(Secret::read(&secret).unwrap()),
        tls: files(None, authority.ca(), None).load().unwrap().client,
    };
    let mut subscriber = Subscriber::connect(&address(&hub), &caller, "reader", "site.*").unwrap();
    poll("somebody subscribes", || hub.intake.board.subscribers() == 1);
    let mut publisher = Publisher::connect(&address(&hub), &caller, "writer").unwrap();
    let picture = vec![7; 300_000];
    publisher.publish("site.text", Form::Text, b"hello").unwrap();
    publisher.publish("site.picture", Form::Bytes, &picture).unwrap();
    assert_eq!(publisher.finish().unwrap(), 2);
    let mut found = Vec::new();
    poll("both come", || {
        if let Received::Batch(batch) = subscriber.receive().unwrap()
            && let Ok(Some(netra_stream::batch::Payload::Message(message))) = batch.payload()
        {
            found.push(message.bytes.to_vec());
        }
        found.len() == 2
    });
    assert_eq!(found, [b"hello".to_vec(), picture]);
    let refused = call(
        &address(&hub),
        Method::Secret(Secret::new(b"another secret of bytes").unwrap()),
        Some(&files(None, authority.ca(), None)),
    );
    assert_eq!(refused.unwrap_err(), "the proof is not accepted");
    drop(subscriber);
    hub.pause();
}

#[test]
fn broken_files_are_named_all_at_once_and_nothing_goes_in_plain_text() {
    let place = TempDir::new().unwrap();
    let authority = Authority::new(place.path(), "authority");
    let good = authority.certify("good", &["127.0.0.1"], None);
    let other = authority.certify("other", &["127.0.0.1"], None);
    let expired = authority.certify("expired", &["127.0.0.1"], Some(2001));
    let open = authority.certify("open", &["127.0.0.1"], None);
    fs::set_permissions(&open.1, fs::Permissions::from_mode(0o644)).unwrap();
    let (empty, cut) = (authority.path("empty"), authority.path("cut"));
    fs::write(&empty, "").unwrap();
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o600)).unwrap();
    let whole = fs::read_to_string(&good.0).unwrap();
    fs::write(&cut, whole.replace('A', "B")).unwrap();
    let check = |tls: &str, wanted: &[&str]| {
        let state = place.path().join("state").display().to_string();
        let text = format!(
            "state = \"{state}\"\n[[listen]]\naddress = \"127.0.0.1:4040\"\n[[upstream]]\n\
             address = \"127.0.0.1:4041\"\n[tls]\n{tls}"
        );
        let problems = Settings::parse(&text).err().unwrap_or_default();
        for part in wanted {
            assert!(problems.iter().any(|line| line.contains(part)), "{part}: {problems:#?}");
        }
        assert_eq!(problems.len(), wanted.len(), "{problems:#?}");
    };
    let ca = authority.ca().unwrap();
    let lines = |certificate: &Path, key: &Path, ca: &Path| {
        let [certificate, key, ca] = [certificate, key, ca].map(|path| path.display().to_string());
        format!("certificate = \"{certificate}\"\nkey = \"{key}\"\nca = \"{ca}\"\n")
    };
    check(&lines(&good.0, &good.1, &ca), &[]);
    check(&lines(&expired.0, &expired.1, &ca), &["[tls] certificate: "]);
    check(&lines(&good.0, &open.1, &ca), &["chmod 600 it"]);
    check(&lines(&good.0, &other.1, &ca), &["[tls] certificate: ", "[tls] certificate: "]);
    check(&lines(&cut, &good.1, &ca), &["[tls] certificate: "]);
    check(&lines(&good.0, &empty, &ca), &["no private key"]);
    let none = authority.path("none");
    check(&lines(&none, &none, &empty), &["No such file", "holds no certificate"]);
    check(
        "ca = 5\n",
        &["[tls] ca: a text", "certificate: is missing", "is encrypted with one", "vouches for"],
    );
    let only = format!("ca = \"{}\"\n", ca.display());
    check(&only, &["[tls] certificate: tcp:127.0.0.1:4040 is encrypted with one"]);
    let own = format!("certificate = \"{}\"\nkey = \"{}\"\n", good.0.display(), good.1.display());
    check(&own, &["[tls] ca: says who vouches for tcp:127.0.0.1:4041"]);
    check(&format!("{own}ca = \"{}\"\nkeys = \"x\"\n", ca.display()), &["keys: no such key"]);
}
