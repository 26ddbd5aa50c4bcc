//! Live jobs of a daemon elsewhere: follows it as a subscriber, and calls again when it is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_stream::clock::Clock;
use netra_stream::stop::Stop;
use netra_stream::topic::{IO, METRICS, Received, Subscriber};
use netra_stream::wire::{Address, Caller};

use super::Live;

/// How long a daemon that does not answer is left alone.
const PAUSE: Duration = Duration::from_secs(1);
/// How often somebody who waits looks whether they should end.
const LOOK: Duration = Duration::from_millis(50);

/// Follows events and metrics of a daemon until told to stop; for a thread of its own. `say` is told when the connection comes
/// (nothing) and why it went or did not come, each time that it is tried.
pub fn follow(
    live: &Arc<Live>,
    address: &Address,
    caller: &(dyn Caller + Sync),
    stop: &Stop,
    say: &(dyn Fn(Option<&str>) + Sync),
) {
    std::thread::scope(|scope| {
        for tag in [IO, METRICS] {
            scope.spawn(move || {
                while !stop.is_set() {
                    // Both go to the same daemon: one of them speaks.
                    let tell = |word: Option<&str>| {
                        if tag == IO {
                            say(word)
                        }
                    };
                    let ended = session(live, address, caller, tag, stop, &tell);
                    if stop.is_set() {
                        break;
                    }
                    tell(Some(&ended));
                    let until = Instant::now() + PAUSE;
                    while Instant::now() < until && !stop.is_set() {
                        std::thread::sleep(LOOK);
                    }
                }
            });
        }
    });
}

/// One connection; says how it ended.
fn session(
    live: &Live,
    address: &Address,
    caller: &dyn Caller,
    tag: &str,
    stop: &Stop,
    tell: &dyn Fn(Option<&str>),
) -> String {
    let clock = Clock::default();
    let mut subscriber = match Subscriber::connect(address, caller, "netra serve", tag) {
        Ok(subscriber) => subscriber,
        Err(error) => return format!("{address}: {error}"),
    };
    tell(None);
    while !stop.is_set() {
        match subscriber.receive() {
            Ok(Received::Batch(batch)) => live.take(&batch, subscriber.images(), clock.now()),
            Ok(Received::Missed(loss)) => live.missed(loss.events),
            Ok(Received::Nothing) => {}
            Ok(Received::End(reason)) => return format!("{address}: {reason}"),
            Err(error) => return format!("{address}: {error}"),
        }
    }
    String::new()
}
