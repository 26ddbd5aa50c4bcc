//! A whole hub: frames go into its intake, lie in its spool, and end in the store; it is stopped and started in between.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use folder::folder;
use generate::Maker;
use netra_store::{Ingest, Place, Store};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Settings, SinkKind, SinkSettings, StoreSettings};
use netra_stream::frame;
use netra_stream::sink::Sink;
use netra_stream::told::Told;

fn settings(state: &Path) -> Settings {
    let kind = SinkKind::Store(StoreSettings {
        every: Duration::from_secs(3600),
        ..StoreSettings::default()
    });
    Settings {
        state: state.to_owned(),
        sinks: vec![SinkSettings { name: "store".to_owned(), kind, optional: false }],
        ..Settings::nothing()
    }
}

fn count(runtime: &tokio::runtime::Runtime, store: &Store) -> i64 {
    runtime.block_on(async {
        let session = SessionContext::new_with_config(Store::settings());
        session.register_table("events", Arc::new(store.scan("events").await.unwrap())).unwrap();
        let answer =
            session.sql("select count(distinct (process, lane, sequence)) from events").await;
        let answer = answer.unwrap().collect().await.unwrap();
        answer[0].column(0).as_primitive::<Int64Type>().value(0)
    })
}

#[test]
fn a_hub_shows_at_once_and_keeps_what_it_was_given() {
    let folder = folder();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for turn in 0..3 {
        let place = Place::directory(&folder.path().join("store")).unwrap();
        let store = Arc::new(Store::create(place).unwrap());
        let make = |settings: &StoreSettings, told: &Arc<Told>| -> io::Result<Box<dyn Sink>> {
            let (store, handle) = (Arc::clone(&store), runtime.handle().clone());
            Ok(Box::new(Ingest::new(store, handle, Arc::clone(told), settings.every)))
        };
        let (told, clock) = (Arc::new(Told::quiet()), Arc::new(Clock::default()));
        let daemon =
            Daemon::start_with(settings(&folder.path().join("state")), told, clock, &make).unwrap();
        let maker = Maker { job: turn, rank: 0, nprocs: 1, every: 1_000_000 };
        let mut bytes = Vec::new();
        maker.began(&mut bytes);
        maker.tables(&mut bytes);
        maker.events(0, 0..500, &mut bytes);
        maker.ended(500, &mut bytes);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let length = frame::length(&frame::check(rest).unwrap());
            daemon.intake.offer(&rest[..length]).unwrap();
            // What comes twice is known.
            daemon.intake.offer(&rest[..length]).unwrap();
            rest = &rest[length..];
        }
        // The pace is an hour: what is seen now is seen from memory.
        let expected = 500 * i64::try_from(turn + 1).unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        while count(&runtime, &store) != expected {
            assert!(Instant::now() < patience, "{} of {expected}", count(&runtime, &store));
        }
        if turn == 1 {
            // As if it were killed: the sink gets nothing more, the spool keeps it.
            daemon.pause();
        } else {
            assert!(daemon.finish(), "everything was kept");
        }
        let place = Place::directory(&folder.path().join("store")).unwrap();
        let seen = count(&runtime, &Store::open(place).unwrap());
        assert_eq!(seen, expected, "in files");
    }
}
