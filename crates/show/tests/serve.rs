//! The server over a real socket: who gets in, what they see, that it comes back, and that its description is
//! whole.
#![cfg(feature = "serve")]
#![expect(clippy::unwrap_used, reason = "a test that can not go on stops there")]

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

#[expect(dead_code, reason = "the other test ends processes too")]
mod feed;

mod asking;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use asking::{Following, ask, get};
use feed::Feed;
use maker::{START, Segment, event, tick};
use netra_event::Function;
use netra_show::live::Live;
use netra_show::serve::{Server, Settings, User, Users};
use netra_stream::clock::Clock;

const ANN: &str = "token-of-ann-1234";
const BOB: &str = "token-of-bob-1234";
const ROOT: &str = "token-of-the-admin";

fn start(live: &Arc<Live>) -> Server {
    let users = Users::new(vec![
        User::new("ann", Some(1000), false, ANN),
        User::new("bob", Some(2000), false, BOB),
        User::new("root", None, true, ROOT),
    ]);
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings::new(address, users);
    Server::start(settings, Arc::clone(live), Arc::new(Clock::default())).unwrap()
}

/// A job of ann's that has written once.
fn with_job() -> (Arc<Live>, Feed, u32) {
    let live = Arc::new(Live::default());
    let mut made = Segment { job: "slurm.7", ..Segment::default() };
    let file = made.file("/scratch/out.dat");
    let mut feed = Feed::begin(&live, &made, START);
    feed.calls(&live, &[event(Function::Pwrite, file, tick(10), 0, 4096)], START + 1_000_000);
    (live, feed, file)
}

#[test]
fn a_user_sees_their_own_jobs_and_an_administrator_all() {
    let (live, _feed, _) = with_job();
    let server = start(&live);
    let keys = |token: &str| {
        let (status, list) = get(&server, "/api/jobs", token);
        assert_eq!(status, 200);
        let jobs = list["jobs"].as_array().unwrap().clone();
        jobs.iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(ANN), ["slurm.7"]);
    assert!(keys(BOB).is_empty());
    assert_eq!(keys(ROOT), ["slurm.7"]);
    let (status, job) = get(&server, "/api/jobs/slurm.7", ANN);
    assert_eq!(
        (status, &job["bytes_written"], &job["state"]),
        (200, &4096.into(), &"running".into())
    );
    assert_eq!(job["steps"][0]["cells"][0].as_array().unwrap()[..4], [0, 1, 1, 4096]);
    assert_eq!(job["files"][0]["path"], "/scratch/out.dat");
    // What is not there and what one may not see look alike.
    let hidden = get(&server, "/api/jobs/slurm.7", BOB);
    let absent = get(&server, "/api/jobs/slurm.8", BOB);
    assert_eq!((hidden.0, absent.0), (404, 404));
    assert_eq!(get(&server, "/api/jobs/slurm.7/stream", BOB).0, 404);
    assert_eq!(get(&server, "/api/jobs/slurm.7/report", BOB).0, 404);
    let filtered = |query: &str| {
        get(&server, &format!("/api/jobs?{query}"), ROOT).1["jobs"].as_array().unwrap().len()
    };
    assert_eq!([filtered("q=app"), filtered("q=other"), filtered("state=ended")], [1, 0, 0]);
    assert_eq!([filtered("user=1000"), filtered("user=ann"), filtered("user=bob")], [1, 1, 0]);
}

#[test]
fn nobody_gets_in_without_a_token_or_from_elsewhere() {
    let (live, _feed, _) = with_job();
    let server = start(&live);
    let status =
        |method: &str, path: &str, headers: &[(&str, &str)]| ask(&server, method, path, headers).0;
    assert_eq!(status("GET", "/api/jobs", &[]), 401);
    assert_eq!(status("GET", "/api/jobs", &[("Authorization", "Bearer wrong")]), 401);
    let ann = format!("Bearer {ANN}");
    let token = ("Authorization", ann.as_str());
    // A name that somebody made point here.
    assert_eq!(status("GET", "/api/jobs", &[token, ("Host", "evil.example")]), 421);
    assert_eq!(status("GET", "/api/jobs", &[token, ("Origin", "http://evil.example")]), 403);
    let own = format!("http://{}", server.address);
    assert_eq!(status("GET", "/api/jobs", &[token, ("Origin", &own)]), 200);
    let cookie = format!("netra_{}={ANN}", server.address.port());
    assert_eq!(status("GET", "/api/jobs", &[("Cookie", &cookie)]), 200);
    // A foreign page can make a browser send the cookie, but not say who it is.
    assert_eq!(status("POST", "/api/session", &[("Cookie", &cookie)]), 403);
    assert_eq!(status("POST", "/api/session", &[("Cookie", &cookie), ("Origin", &own)]), 200);
    assert_eq!(status("DELETE", "/api/jobs", &[token]), 405);
    assert_eq!(status("GET", "/api/nothing", &[token]), 404);
    let (_, head, _) = ask(&server, "POST", "/api/session", &[token]);
    assert!(head.contains("httponly; samesite=strict"), "{head}");
    // The page itself says nothing about anybody.
    let (status, head, body) = ask(&server, "GET", "/jobs/slurm.7", &[]);
    assert_eq!(status, 200);
    assert!(!body.contains("slurm.7") && body.contains("/live.js"));
    for header in
        ["content-security-policy: default-src 'none'", "x-frame-options: deny", "nosniff"]
    {
        assert!(head.contains(header), "{head}");
    }
}

#[test]
fn a_follower_is_told_everything_then_what_is_new_and_goes_on_where_it_was() {
    let (live, mut feed, file) = with_job();
    let server = start(&live);
    let follow = |last| Following::begin(&server, "/api/jobs/slurm.7/stream", ANN, last);
    let mut page = follow(None);
    let (first, whole) = page.next();
    assert_eq!((&whole["since"], whole["steps"].as_array().unwrap().len()), (&0.into(), 1));
    let later = event(Function::Pwrite, file, tick(3_000_000_000), 0, 10);
    feed.calls(&live, &[later], START + 4_000_000_000);
    let (second, news) = page.next();
    assert_ne!(first, second);
    let steps = news["steps"].as_array().unwrap();
    let changed: Vec<u64> = steps.iter().map(|step| step["at"].as_u64().unwrap()).collect();
    assert_eq!(changed.last(), Some(&(START / 1_000_000_000 + 3)));
    assert!(!changed.contains(&(START / 1_000_000_000)), "{changed:?}");
    drop(page);
    // Back again: nothing is told twice.
    let (_, again) = follow(Some(&second)).next();
    assert_eq!(again["steps"].as_array().unwrap().len(), 0);
    assert_eq!(again["bytes_written"], 4106);
    // An id of another server means everything.
    let (_, anew) = follow(Some("beef-7")).next();
    assert_eq!(anew["since"], 0);
}

#[test]
fn every_address_is_described_and_answers() {
    let (live, _feed, _) = with_job();
    let server = start(&live);
    let (status, described) = get(&server, "/api/openapi.json", "");
    assert_eq!((status, described["openapi"].as_str()), (200, Some("3.1.0")));
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() >= 11, "{paths:?}");
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            let says = operation["summary"].as_str().unwrap();
            assert!(says.ends_with('.'), "{path}: {says}");
            let path = path.replace("{job}", "slurm.7");
            if path.ends_with("stream") {
                continue;
            }
            let token = format!("Bearer {ANN}");
            let method = method.to_uppercase();
            let (status, _, _) = ask(&server, &method, &path, &[("Authorization", &token)]);
            // The report has not been made yet, this server has no store, and nobody said which program.
            let wanted = match path.as_str() {
                path if path.ends_with("report") || path.ends_with("sql") => 404,
                path if path.starts_with("/api/analyse") => 404,
                "/api/runs" => 400,
                _ => 200,
            };
            assert_eq!(status, wanted, "{method} {path}");
        }
    }
}

#[test]
fn a_server_ends_while_pages_follow() {
    let (live, _feed, _) = with_job();
    let server = start(&live);
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(
        stream,
        "GET /api/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ANN}\r\n\r\n",
        server.address
    )
    .unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut bytes = [0; 1024];
    assert!(stream.read(&mut bytes).unwrap() > 0);
    assert_eq!(server.viewers(), 1);
    server.stop();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).ok();
}

#[test]
fn other_machines_are_not_answered_in_plain_text_unless_that_is_meant() {
    let users = || Users::new(vec![User::new("root", None, true, ROOT)]);
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let start = |settings| Server::start(settings, Arc::default(), Arc::new(Clock::default()));
    let refused = start(Settings::new(everywhere, users())).unwrap_err();
    assert!(refused.to_string().contains("certificate"), "{refused}");
    let meant = Settings { allow_plain: true, ..Settings::new(everywhere, users()) };
    start(meant).unwrap().stop();
}

/// Fifty jobs of 64 ranks that go on writing, in a browser where one is installed.
#[test]
fn fifty_jobs_of_64_ranks_are_followed_without_losing_the_connection() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find = |name: &str| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    let chromium =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| find(name));
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/build/crowd.test.js");
    let (Some(chromium), Some(node), true) = (chromium, find("node"), test.is_file()) else {
        return println!(
            "not checked: chromium or node is not installed, or `cargo xtask web` has not built the tests"
        );
    };
    let live = Arc::new(Live::default());
    let server = start(&live);
    let over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| crowd(&live, &over));
        let mut command = Command::new(node);
        command.arg("--test").arg(&test).env("NETRA_CHROMIUM", chromium);
        let done =
            command.env("NETRA_LIVE", format!("http://{}/#token={ROOT}", server.address)).output();
        over.store(true, Ordering::Relaxed);
        done.unwrap()
    });
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.contains("longest update")).for_each(|line| println!("{line}"));
}

/// Feeds the jobs, each rank a few calls at a time, until told to end.
fn crowd(live: &Arc<Live>, over: &AtomicBool) {
    let clock = Clock::default();
    let mut feeds = Vec::new();
    for job in 0..50 {
        let key: &'static str = format!("crowd.{job:02}").leak();
        for rank in 0..64 {
            let host = format!("node{:03}", job * 2 + rank / 32);
            let pid = 1000 + job * 64 + rank;
            let mut made =
                Segment { job: key, rank: Some(rank), nprocs: 64, pid, host, ..Segment::default() };
            let file = made.file(&format!("/scratch/{key}/out.{rank}"));
            feeds.push((Feed::begin(live, &made, clock.now()), file));
        }
    }
    let begun = clock.now();
    while !over.load(Ordering::Relaxed) {
        let since = clock.now() - begun;
        for (feed, file) in &mut feeds {
            let calls: Vec<_> = (0..4)
                .map(|call| event(Function::Pwrite, *file, tick(since + call * 1000), 0, 4096))
                .collect();
            feed.calls(live, &calls, START + since);
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}
