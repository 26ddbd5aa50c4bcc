//! Jobs that the server has seen and that lie in the store, too: whoever knows more of one tells it, at every address the same.

use std::sync::Arc;

use netra_event::Function;
use netra_show::live::Live;
use netra_show::serve::User;
use serde_json::{Value, json};

use crate::asking::get;
use crate::feed::Feed;
use crate::made::{Call, Made, Size};
use crate::maker::{START, Segment, event, tick};
use crate::more::counters;
use crate::page::{ROOT, Site};

/// A process of a job that is in the store, as a server sees it that was started late.
fn begin(live: &Live, job: &'static str, pid: u32) -> (Feed, u32) {
    let mut made = Segment { job, uid: 1000, pid, ..Segment::default() };
    let file = made.file("/scratch/out.dat");
    (Feed::begin(live, &made, START), file)
}

#[test]
fn a_job_that_was_seen_in_part_is_told_as_the_store_has_it() {
    let live = Arc::new(Live::default());
    let write = |file| [event(Function::Pwrite, file, tick(10), 0, 4096)];
    // One ended here, and not all of it came; of one this server never heard that it ended; one it follows.
    let (mut ended, file) = begin(&live, "slurm.4700.0", 100);
    ended.calls(&live, &write(file), START + 1_000_000);
    ended.end(&live, START + 2_000_000);
    let (_silent, _) = begin(&live, "slurm.4701.0", 101);
    let (mut followed, file) = begin(&live, "slurm.4702.0", 102);
    followed.calls(&live, &write(file), START + 1_000_000);
    // One that the store does not have.
    let (mut fresh, file) = begin(&live, "slurm.4800.0", 103);
    fresh.calls(&live, &write(file), START + 1_000_000);
    fresh.end(&live, START + 2_000_000);
    let size = Size { jobs: 3, ranks: 2, calls: 100, seed: 11 };
    let site = Site::of(Made::new(size), vec![User::new("root", None, true, ROOT)], &live);
    site.runtime.block_on(counters(&site.store, &site.made));
    let kept = |job: usize| {
        let of_job = site.made.calls.iter().filter(|call| call.job == job && call.op == "write");
        let lowest = of_job.filter(|call| matches!(call.layer, "POSIX" | "STDIO"));
        lowest.map(|call: &Call| call.bytes).sum::<i64>()
    };
    let wanted = [
        ("slurm.4700.0", json!(true), "ended", kept(0)),
        ("slurm.4701.0", json!(true), "ended", kept(1)),
        ("slurm.4702.0", Value::Null, "running", 4096),
        ("slurm.4800.0", Value::Null, "ended", 4096),
    ];
    assert!(kept(0) != 4096 && kept(1) != 4096);
    let (_, list) = get(&site.server, "/api/jobs", ROOT);
    assert_eq!(list["jobs"].as_array().unwrap().len(), 4, "{list:#}");
    let (_, running) = get(&site.server, "/api/jobs?state=running", ROOT);
    let running: Vec<&Value> =
        running["jobs"].as_array().unwrap().iter().map(|line| &line["job"]).collect();
    assert_eq!(running, ["slurm.4702.0"]);
    let (_, all) = get(&site.server, "/api/site?days=36500", ROOT);
    assert_eq!(all["cover"]["jobs"], 4, "{all:#}");
    for (key, stored, state, written) in wanted {
        let lines = list["jobs"].as_array().unwrap().iter();
        let line = lines.clone().find(|line| line["job"] == key).unwrap();
        let (_, one) = get(&site.server, &format!("/api/jobs/{key}"), ROOT);
        for told in [line, &one] {
            assert_eq!(
                (&told["stored"], &told["state"], &told["bytes_written"]),
                (&stored, &json!(state), &json!(written)),
                "{key}: {told:#}"
            );
        }
    }
    // Runs of a program are added up from the same.
    let sum: i64 = written_by_all(&all["users"]);
    assert_eq!(sum, kept(0) + kept(1) + 4096 + 4096);
}

fn written_by_all(groups: &Value) -> i64 {
    let groups = groups.as_array().unwrap().iter();
    groups.map(|group| group["bytes_written"].as_i64().unwrap()).sum()
}
