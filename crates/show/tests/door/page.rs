//! The page's server over a store: stored jobs in the list, one of them with everything, the site, many runs and
//! neighbours; each number against the made-up rows themselves.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use netra_show::live::{Live, Setup};
use netra_show::serve::{Server, Settings, Stored, User, Users};
use netra_store::Store;
use netra_store::ask::{Ground, Limits};
use netra_stream::clock::Clock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::asking::get;
use crate::made::{BEGAN, Call, Made, Size};
use crate::more::{counters, layouts, ledger, messages};

pub(crate) const ROOT: &str = "token-of-the-admin";
const ALICE: &str = "token-of-alice-16";
const BOB: &str = "token-of-bob-0016";
/// Far enough back for ever.
const EVER: &str = "days=36500";

/// A server over a made-up store.
pub(crate) struct Site {
    pub(crate) made: Made,
    pub(crate) server: Server,
    pub(crate) store: Arc<Store>,
    pub(crate) runtime: Runtime,
    _folder: TempDir,
}

impl Site {
    /// Everybody of the made-up jobs may look, and an administrator.
    pub(crate) fn start() -> Site {
        let users = vec![
            User::new("alice", Some(1000), false, ALICE),
            User::new("bob", Some(1001), false, BOB),
            User::new("root", None, true, ROOT),
        ];
        let size = Size { jobs: 6, ranks: 4, calls: 500, seed: 7 };
        Site::of(Made::new(size), users, &Arc::default())
    }

    pub(crate) fn of(made: Made, users: Vec<User>, live: &Arc<Live>) -> Site {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(runtime.block_on(made.store(&folder.path().join("store"))));
        let ground = Ground::new(&Limits::default()).unwrap();
        // Targets 4 and 5 are one server's.
        let servers: BTreeMap<u64, String> =
            [(4, "oss2".to_owned()), (5, "oss2".to_owned())].into();
        let setup = Setup { servers: servers.clone(), ..Setup::default() };
        let stored = Stored::new(Arc::clone(&store) as _, ground, setup).unwrap();
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings { servers, ..Settings::new(here, Users::new(users)) };
        let clock = Arc::new(Clock::default());
        let server = Server::start_over(stored, settings, Arc::clone(live), clock).unwrap();
        Site { made, server, store, runtime, _folder: folder }
    }

    fn get(&self, path: &str, token: &str) -> Value {
        let (status, value) = get(&self.server, path, token);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// Keys of the list.
    fn keys(&self, query: &str, token: &str) -> Vec<String> {
        let list = self.get(&format!("/api/jobs?{query}"), token);
        assert_eq!(list["wrong"], Value::Null);
        let jobs = list["jobs"].as_array().unwrap();
        jobs.iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect()
    }

    fn calls_of(&self, job: usize) -> impl Iterator<Item = &Call> {
        self.made.calls.iter().filter(move |call| call.job == job)
    }
}

fn key(number: usize) -> String {
    format!("slurm.{}.0", 4700 + number)
}

fn keys(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|&number| key(number)).collect()
}

#[test]
fn the_list_has_stored_jobs_newest_first_as_far_as_one_sees_them_and_asks_for_them() {
    let site = Site::start();
    assert_eq!(site.keys("", ROOT), keys(&[5, 4, 3, 2, 1, 0]));
    assert_eq!(site.keys("", ALICE), keys(&[4, 2, 0]));
    assert_eq!(site.keys("", BOB), keys(&[5, 3, 1]));
    assert_eq!(site.keys("user=bob", ROOT), keys(&[5, 3, 1]));
    assert_eq!(site.keys("user=1001", ROOT), keys(&[5, 3, 1]));
    assert_eq!(site.keys("user=bob", ALICE), keys(&[]));
    assert_eq!(site.keys("exe=lattice", ROOT), keys(&[4, 1]));
    assert_eq!(site.keys("node=nid00000&limit=2", ROOT), keys(&[5, 4]));
    assert_eq!(site.keys("node=nid00009", ROOT), keys(&[]));
    assert_eq!(site.keys("q=4703", ROOT), keys(&[3]));
    assert_eq!(site.keys("q=climate+alice", ROOT), keys(&[2]));
    assert_eq!(site.keys("q=nid00000+wave", ROOT), keys(&[3, 0]));
    assert_eq!(site.keys("q=o%27hara", ROOT), keys(&[]));
    assert_eq!(site.keys("state=running", ROOT), keys(&[]));
    assert_eq!(site.keys("state=ended", ALICE), keys(&[4, 2, 0]));
    // Jobs begin a minute apart and take fifty seconds.
    let moment = |seconds: i64| BEGAN / 1_000_000 + seconds;
    assert_eq!(site.keys(&format!("from={}", moment(171)), ROOT), keys(&[5, 4, 3]));
    let window = format!("from={}&to={}", moment(60), moment(130));
    assert_eq!(site.keys(&window, ROOT), keys(&[2, 1]));
}

#[test]
fn a_stored_job_is_told_as_a_running_one_is() {
    let site = Site::start();
    site.runtime.block_on(counters(&site.store, &site.made));
    let job = site.get(&format!("/api/jobs/{}", key(2)), ALICE);
    let lowest = |call: &&Call| matches!(call.layer, "POSIX" | "STDIO");
    let written: i64 = site
        .calls_of(2)
        .filter(lowest)
        .filter(|call| call.op == "write")
        .map(|call| call.bytes)
        .sum();
    assert_eq!((&job["bytes_written"], &job["state"]), (&json!(written), &json!("ended")));
    assert_eq!(
        (&job["stored"], &job["elapsed"], &job["ranks"]),
        (&json!(true), &json!(50.0), &json!(4))
    );
    // Steps: calls, bytes and time by second, layer and way.
    let mut wanted: BTreeMap<(i64, usize, usize), [i64; 3]> = BTreeMap::new();
    for call in site.calls_of(2) {
        let layer =
            ["POSIX", "STDIO", "MPI-IO"].iter().position(|name| *name == call.layer).unwrap();
        let way = match call.op {
            "read" => 0,
            "write" => 1,
            "sync" => 3,
            _ => 2,
        };
        let sums = wanted.entry((call.t / 1_000_000, layer, way)).or_default();
        *sums = [sums[0] + 1, sums[1] + call.bytes, sums[2] + call.duration];
    }
    let mut found: BTreeMap<(i64, usize, usize), [i64; 3]> = BTreeMap::new();
    for step in job["steps"].as_array().unwrap() {
        for cell in step["cells"].as_array().unwrap() {
            let cell: Vec<i64> =
                cell.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
            let place = (step["at"].as_i64().unwrap(), cell[0] as usize, cell[1] as usize);
            found.insert(place, [cell[2], cell[3], cell[4]]);
        }
    }
    assert_eq!(found, wanted);
    let longest = job["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["latency"][1][3].as_u64())
        .max();
    assert!(longest.is_some_and(|nanos| (1_500_000..=3_000_500).contains(&nanos)), "{longest:?}");
    let ranks: Vec<i64> = job["ranks_list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rank| rank["rank"].as_i64().unwrap())
        .collect();
    assert_eq!(ranks, [0, 1, 2, 3]);
    let of_rank: i64 = site
        .calls_of(2)
        .filter(lowest)
        .filter(|call| call.rank == 1)
        .map(|call| call.duration)
        .sum();
    let nanos = job["ranks_list"][1]["nanos"].as_array().unwrap();
    assert_eq!(nanos.iter().map(|n| n.as_i64().unwrap()).sum::<i64>(), of_rank);
    // The first two minutes of its node were measured; a number that rises is a rate.
    let metrics = job["metrics"].as_array().unwrap();
    assert!(metrics.iter().any(|metric| metric["name"] == "memory.dirty_bytes"), "{metrics:?}");
    assert_eq!(job["diagnosis"]["failed"], Value::Null);
    // What is not there, and what is not one's own, look alike.
    for missing in [key(2), "slurm.9".to_owned(), "slurm.470".to_owned()] {
        for rest in ["", "/report", "/neighbours", "/stream"] {
            let path = format!("/api/jobs/{missing}{rest}");
            assert_eq!(get(&site.server, &path, BOB).0, 404, "{path}");
        }
    }
    let report = site.get(&format!("/api/jobs/{}/report", key(2)), ALICE);
    assert_eq!(report["report"]["job"]["nprocs"], 4);
    // Having been looked at, it has its findings in the list.
    let list = site.get(&format!("/api/jobs?q={}", key(2)), ALICE);
    assert!(list["jobs"][0]["findings"]["high"].is_u64(), "{list:#}");
}

#[test]
fn the_site_adds_up_what_one_sees() {
    let site = Site::start();
    site.runtime.block_on(async {
        counters(&site.store, &site.made).await;
        ledger(&site.store, &site.made, 3).await;
        messages(&site.store).await;
    });
    let all = site.get(&format!("/api/site?{EVER}"), ROOT);
    let lowest = |call: &&Call| matches!(call.layer, "POSIX" | "STDIO");
    let bytes = |op: &str, wanted: &dyn Fn(&Call) -> bool| -> i64 {
        let calls = site.made.calls.iter().filter(lowest).filter(|call| call.op == op);
        calls.filter(|call| wanted(call)).map(|call| call.bytes).sum()
    };
    let group = |kind: &str, name: &str, value: &Value| -> Value {
        let list = value[kind].as_array().unwrap();
        list.iter().find(|one| one["name"] == name).cloned().unwrap_or(Value::Null)
    };
    let scratch = group("systems", "/scratch (lustre)", &all);
    assert_eq!(
        (&scratch["jobs"], &scratch["bytes_read"]),
        (&json!(6), &json!(bytes("read", &|_| true)))
    );
    let bob = group("users", "bob", &all);
    let of_bob = |call: &Call| site.made.jobs[call.job].uid == 1001;
    assert_eq!((&bob["jobs"], &bob["bytes_written"]), (&json!(3), &json!(bytes("write", &of_bob))));
    let wave = group("programs", "wave", &all);
    let of_wave = |call: &Call| call.job.is_multiple_of(3);
    assert_eq!((&wave["jobs"], &wave["bytes_read"]), (&json!(2), &json!(bytes("read", &of_wave))));
    assert_eq!(all["across"]["readers"], 3);
    // Everything that was traced stands in the hour or day in which it happened.
    let over: i64 = all["times"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["bytes_read"].as_i64().unwrap())
        .sum();
    assert_eq!(over, bytes("read", &|_| true));
    let cover = &all["cover"];
    assert_eq!((&cover["jobs"], &cover["whole"]), (&json!(6), &json!(5)));
    assert_eq!(
        (&cover["partly"][0]["count"], &cover["partly"][0]["jobs"]),
        (&json!(1), &json!([key(3)]))
    );
    assert!(
        cover["partly"][0]["why"].as_str().unwrap().starts_with("events were lost"),
        "{cover:#}"
    );
    assert_eq!(
        cover["not"][0],
        json!({ "why": "NETRA=off", "count": 1, "jobs": ["slurm.5000.0"] })
    );
    // Of somebody else nothing is told, not even that it was not recorded.
    let own = site.get(&format!("/api/site?{EVER}"), ALICE);
    assert_eq!((&own["cover"]["jobs"], &own["cover"]["not"]), (&json!(3), &json!([])));
    assert_eq!(group("users", "bob", &own), Value::Null);
    assert_eq!(own["users"].as_array().unwrap().len(), 1);
    // An hour after the last one, an hour looks back at none; only the moment of the test decides.
    assert_eq!(site.get("/api/site?days=0", ROOT)["cover"]["jobs"], 0);
}

#[test]
fn runs_of_a_program_stand_beside_each_other() {
    let site = Site::start();
    site.runtime.block_on(counters(&site.store, &site.made));
    let runs = site.get(&format!("/api/runs?program=wave&ranks=4&{EVER}"), ROOT);
    let told: Vec<&str> =
        runs["runs"].as_array().unwrap().iter().map(|run| run["job"].as_str().unwrap()).collect();
    assert_eq!(told, keys(&[3, 0]));
    assert_eq!(runs["runs"][0]["run_seconds"], 50.0);
    assert_eq!(
        (&runs["nodes"][0]["node"], &runs["nodes"][0]["runs"]),
        (&json!("nid00000"), &json!(2))
    );
    let seconds = |job: usize| {
        let calls = site.calls_of(job).filter(|call| matches!(call.layer, "POSIX" | "STDIO"));
        let mut ranks: BTreeMap<i64, i64> = BTreeMap::new();
        calls.for_each(|call| *ranks.entry(call.rank).or_default() += call.duration);
        ranks.into_values().max().unwrap() as f64 / 1e9
    };
    let found = runs["runs"][1]["io_seconds"].as_f64().unwrap();
    assert!((found - seconds(0)).abs() < 1e-6, "{found} {}", seconds(0));
    let own = site.get(&format!("/api/runs?program=wave&{EVER}"), ALICE);
    assert_eq!(own["runs"].as_array().unwrap().len(), 1);
    assert_eq!(get(&site.server, "/api/runs", ROOT).0, 400);
}

#[test]
fn neighbours_are_jobs_of_the_same_time_on_the_same_storage() {
    // Jobs of the first store never overlap: these do.
    let mut made = Made::new(Size { jobs: 4, ranks: 2, calls: 200, seed: 3 });
    for job in &mut made.jobs {
        job.end = job.t + 150_000_000;
    }
    let users =
        vec![User::new("root", None, true, ROOT), User::new("alice", Some(1000), false, ALICE)];
    let site = Site::of(made, users, &Arc::default());
    // 0 and 1 share target 1; 2 is on another target of the server of 0's target 4; 3 began when 0 had ended.
    let targets = [vec![1, 4], vec![1, 2], vec![5], vec![1]];
    site.runtime.block_on(layouts(&site.store, &site.made, &targets));
    let told = site.get(&format!("/api/jobs/{}/neighbours", key(0)), ROOT);
    let list = told["neighbours"].as_array().unwrap();
    let mut names: Vec<&str> = list.iter().map(|one| one["job"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, keys(&[1, 2]));
    let one = list.iter().find(|one| one["job"] == key(1)).unwrap();
    assert_eq!(
        (&one["targets"], &one["servers"], &one["overlap"]),
        (&json!([1]), &json!([]), &json!(90.0))
    );
    let other = list.iter().find(|one| one["job"] == key(2)).unwrap();
    assert_eq!((&other["targets"], &other["servers"]), (&json!([]), &json!(["oss2"])));
    // What 1 read from its beginning to the end of 0.
    let until = site.made.jobs[0].end;
    let read: i64 = site
        .calls_of(1)
        .filter(|call| {
            call.op == "read" && call.layer != "MPI-IO" && call.t / 1_000_000 * 1_000_000 <= until
        })
        .map(|call| call.bytes)
        .sum();
    assert_eq!(one["bytes_read"], read);
    // Alice sees her own neighbours alone.
    let own = site.get(&format!("/api/jobs/{}/neighbours", key(0)), ALICE);
    assert_eq!((&own["count"], &own["neighbours"][0]["job"]), (&json!(1), &json!(key(2))));
}
