//! Twenty people, each with a job that runs and jobs in the store: whatever they ask, at every address that the
//! server describes, nobody else's jobs are in the answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use netra_event::Function;
use netra_show::live::Live;
use netra_show::serve::User;

use crate::asking::{Following, get, text};
use crate::feed::Feed;
use crate::made::{Job, Made, Size};
use crate::maker::{START, Segment, event, tick};
use crate::more::{counters, layouts, ledger};
use crate::page::{ROOT, Site};

const PEOPLE: u32 = 20;

fn token(person: u32) -> String {
    format!("the-token-of-person-{person:02}")
}

fn uid(person: u32) -> u32 {
    1000 + person
}

/// Words that only belong to one person: keys of their jobs, their files, their name.
fn own(person: u32) -> [String; 4] {
    [
        format!("live.{person:02}.x"),
        format!("kept.{person:02}.x"),
        format!("/secret/{person:02}/data"),
        format!("person-{person:02}"),
    ]
}

fn live() -> (Arc<Live>, Vec<Feed>) {
    let live = Arc::new(Live::default());
    let feeds = (0..PEOPLE).map(|person| {
        let [job, _, file, _] = own(person);
        let job: &'static str = job.leak();
        let mut made = Segment { job, uid: uid(person), pid: 100 + person, ..Segment::default() };
        let file = made.file(&file);
        let mut feed = Feed::begin(&live, &made, START);
        feed.calls(&live, &[event(Function::Pwrite, file, tick(10), 0, 4096)], START + 1_000_000);
        feed
    });
    let feeds = feeds.collect();
    (live, feeds)
}

fn made() -> Made {
    let mut made = Made::new(Size { jobs: PEOPLE as usize, ranks: 1, calls: 40, seed: 5 });
    let own = |(person, job): (u32, &mut Job)| {
        let [_, key, _, name] = own(person);
        (job.job, job.user, job.uid) = (key, name, i64::from(uid(person)));
        job.exe = "/sw/bin/wave".to_owned();
    };
    (0..).zip(&mut made.jobs).for_each(own);
    made
}

#[test]
fn nobody_sees_anything_of_anybody_else() {
    let (live, _feeds) = live();
    let people = (0..PEOPLE)
        .map(|person| User::new(&own(person)[3], Some(uid(person)), false, &token(person)));
    let users = people.chain([User::new("root", None, true, ROOT)]).collect();
    let site = Site::of(made(), users, &live);
    site.runtime.block_on(async {
        counters(&site.store, &site.made).await;
        ledger(&site.store, &site.made, usize::MAX).await;
        layouts(&site.store, &site.made, &vec![vec![1]; PEOPLE as usize]).await;
    });
    let (_, described) = get(&site.server, "/api/openapi.json", "");
    let paths: Vec<&String> = described["paths"].as_object().unwrap().keys().collect();
    assert!(paths.len() >= 12, "{paths:?}");
    for person in 0..PEOPLE {
        let mut asked = 0;
        for path in paths.iter().filter(|path| !path.ends_with("session")) {
            for path in addresses(path, person) {
                let answer = match path.contains("stream") {
                    true => followed(&site, &path, person),
                    false => text(&site.server, &path, &token(person)).1,
                };
                is_own(&path, &answer, person);
                asked += 1;
            }
        }
        assert!(asked >= 12, "{asked}");
        let (_, list) = get(&site.server, "/api/jobs", &token(person));
        let keys: BTreeSet<&str> = list["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["job"].as_str().unwrap())
            .collect();
        let [one, other, ..] = own(person);
        assert_eq!(keys, BTreeSet::from([one.as_str(), other.as_str()]));
    }
    let (_, all) = get(&site.server, "/api/jobs", ROOT);
    assert_eq!(all["jobs"].as_array().unwrap().len(), 2 * PEOPLE as usize);
}

/// An address with everything that somebody might try: their own jobs and those of others.
fn addresses(path: &str, person: u32) -> Vec<String> {
    let other = (person + 1) % PEOPLE;
    // Everything for everybody would take long: some people try all, the others what is most likely to leak.
    let tries = if person < 3 { usize::MAX } else { 1 };
    let sql = |question: &str| {
        let question = format!("SELECT {question}").replace(' ', "%20").replace('"', "%22");
        format!("/api/sql?q={question}")
    };
    match path {
        "/api/sql" => {
            let questions = [
                "job, \"user\" FROM jobs",
                "file FROM events",
                "job FROM activity",
                "job FROM lustre",
            ];
            questions.iter().take(tries).map(|question| sql(question)).collect()
        }
        "/api/site" => vec!["/api/site?days=36500".to_owned()],
        "/api/runs" => vec!["/api/runs?program=wave&days=36500".to_owned()],
        "/api/jobs" => {
            let queries = ["q=kept", "", "user=person-03", "state=ended"];
            queries.iter().take(tries).map(|query| format!("{path}?{query}")).collect()
        }
        path if path.contains("{job}") => {
            let [live, kept, ..] = own(other);
            let [own_live, own_kept, ..] = own(person);
            let keys = [kept, live, own_live, own_kept];
            keys.iter().take(tries).map(|key| path.replace("{job}", key)).collect()
        }
        path => vec![path.to_owned()],
    }
}

/// The first event of a stream, or the refusal.
fn followed(site: &Site, path: &str, person: u32) -> String {
    let token = token(person);
    let mine = own(person);
    if path == "/api/stream" || path.contains(&mine[0]) {
        return Following::begin(&site.server, path, &token, None).next().1.to_string();
    }
    let (status, body) = text(&site.server, path, &token);
    assert_eq!(status, 404, "{path}: {body}");
    body
}

/// Nothing of others is in an answer, but for a key that was asked for and is not there.
fn is_own(path: &str, answer: &str, person: u32) {
    for other in (0..PEOPLE).filter(|other| *other != person) {
        for word in own(other).iter().filter(|word| !path.contains(*word)) {
            assert!(!answer.contains(word), "{path} tells {person} of {word}: {answer}");
        }
    }
    if let Some(other) =
        (0..PEOPLE).find(|other| *other != person && path.contains(&format!(".{other:02}.x")))
    {
        assert!(answer.contains("there is no job"), "{path} tells {person} of {other}: {answer}");
    }
}
