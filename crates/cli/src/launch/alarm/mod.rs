//! Tells of findings while jobs run, each recipient in a thread of its own: who does not answer holds nobody back.
//!
//! A finding is told first and remembered then. Whoever is killed in between tells it once more; the other way round it
//! would be lost.

mod memory;
mod recipient;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use netra_show::live::{Alert, Alerts, Fate, Live, Told};
use netra_stream::clock::Clock;
use netra_stream::stop::Stop;
use netra_stream::wire::Address;

use self::memory::{Memory, Opened};
use self::recipient::{Recipient, url};
use crate::launch::page::escaped;
use crate::surroundings;

const LOOK: Duration = Duration::from_millis(500);

/// Who is told, and how often at most.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Alarm {
    /// Run this with the shell for each new finding; it gets JSON on standard input
    #[arg(long, value_name = "COMMAND")]
    alert_command: Option<String>,
    /// Send each new finding as JSON to this http:// address
    #[arg(long, value_name = "URL", value_parser = url)]
    alert_url: Option<String>,
    /// Findings that are told in a minute at most, to each; others wait
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    alert_limit: usize,
    /// Remember here what was told, so that a restart tells nothing twice [default: a folder for each
    /// daemon in $XDG_STATE_HOME/netra/alerts]
    #[arg(long, value_name = "DIR")]
    alert_state: Option<PathBuf>,
}

/// What the threads of all recipients share.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) live: &'a Arc<Live>,
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a Stop,
}

impl Alarm {
    /// Tells of the jobs of a daemon until told to stop; for a thread of its own.
    pub(crate) fn run(&self, daemon: &Address, watch: Watch<'_>) {
        let command = self.alert_command.clone().map(Recipient::Command);
        let address = self.alert_url.clone().map(Recipient::Address);
        let place = self.place(daemon);
        std::thread::scope(|scope| {
            for recipient in [command, address].into_iter().flatten() {
                let (place, most) = (place.clone(), self.alert_limit);
                scope.spawn(move || {
                    if let Some(teller) = Teller::start(recipient, place, most, watch) {
                        teller.run(watch);
                    }
                });
            }
        });
    }

    /// Daemons have different jobs, so each has a folder.
    fn place(&self, daemon: &Address) -> Option<PathBuf> {
        let own = || Some(surroundings::state()?.join("alerts").join(escaped(&daemon.to_string())));
        self.alert_state.clone().or_else(own)
    }
}

/// Tells one recipient.
struct Teller {
    recipient: Recipient,
    alerts: Alerts,
    /// None where there is no place for it.
    memory: Option<Memory>,
    /// Whether it was said that the recipient, and the memory, do not work; once is enough until they do.
    is_silent: bool,
    is_forgetful: bool,
}

impl Teller {
    /// Recalls what was told. Nothing where it is to end before the place is free.
    fn start(
        recipient: Recipient,
        place: Option<PathBuf>,
        most: usize,
        watch: Watch<'_>,
    ) -> Option<Teller> {
        let (memory, told) = match recall(&recipient, place, watch) {
            Ok(recalled) => recalled?,
            Err(why) => {
                eprintln!(
                    "netra: {recipient}: {why}; what is told is forgotten when this server ends"
                );
                (None, Told::default())
            }
        };
        let alerts = Alerts::new(most, told);
        Some(Teller { recipient, alerts, memory, is_silent: false, is_forgetful: false })
    }

    fn run(mut self, watch: Watch<'_>) {
        while !watch.stop.is_set() {
            let next = self.alerts.next(&watch.live.lock(), watch.clock.now());
            match next {
                Some(alert) => self.tell(&alert, watch.clock),
                None => std::thread::sleep(LOOK),
            }
            self.refresh(watch.clock.now());
        }
    }

    fn tell(&mut self, alert: &Alert, clock: &Clock) {
        let told = self.recipient.tell(alert);
        let now = clock.now();
        let (recipient, job, rule) = (&self.recipient, &alert.job, &alert.slug);
        match told {
            Ok(()) => {
                self.is_silent = false;
                let line = self.alerts.got_through(alert, now);
                let told = self.alerts.told();
                let kept = self.memory.as_mut().map(|memory| memory.add(&line, told, now));
                self.complain(kept);
            }
            Err(error) => match self.alerts.did_not(alert, now) {
                Fate::GivenUp(tries) => {
                    eprintln!(
                        "netra: {recipient}: {rule} of job {job} was not told, {tries} times: {error}"
                    );
                }
                Fate::First if !self.is_silent => {
                    self.is_silent = true;
                    eprintln!(
                        "netra: {recipient}: {rule} of job {job}: {error}; it is tried again for an hour"
                    );
                }
                Fate::First | Fate::Again => {}
            },
        }
    }

    /// Once a day: forgets what is long gone, and keeps what is still there.
    fn refresh(&mut self, now: u64) {
        if self.memory.as_ref().is_none_or(|memory| memory.is_old(now)) {
            self.alerts.forget(now);
            let told = self.alerts.told();
            let kept = self.memory.as_mut().map(|memory| memory.rewrite(told, now));
            self.complain(kept);
        }
    }

    fn complain(&mut self, kept: Option<std::io::Result<()>>) {
        match (kept, &self.memory) {
            (Some(Err(error)), Some(memory)) if !self.is_forgetful => {
                self.is_forgetful = true;
                let path = memory.path().display();
                eprintln!(
                    "netra: {path}: {error}; a restart may tell findings again until it can be written"
                );
            }
            (Some(Ok(())), _) => self.is_forgetful = false,
            _ => {}
        }
    }
}

/// What was told before, and where it is kept. While another server tells from the same place this one waits: it takes over
/// when that one ends.
fn recall(
    recipient: &Recipient,
    place: Option<PathBuf>,
    watch: Watch<'_>,
) -> Result<Option<(Option<Memory>, Told)>, String> {
    let Some(place) = place else {
        return Err("neither XDG_STATE_HOME nor HOME is set, and --alert-state is not given".into());
    };
    let mut is_said = false;
    while !watch.stop.is_set() {
        let opened = Memory::open(&place, recipient.name(), watch.clock.now());
        match opened.map_err(|error| format!("{}: {error}", place.display()))? {
            Opened::Here(memory, told, flaw) => {
                flaw.iter().for_each(|flaw| eprintln!("netra: {flaw}"));
                return Ok(Some((Some(memory), told)));
            }
            Opened::Taken if !is_said => {
                is_said = true;
                let place = place.display();
                eprintln!(
                    "netra: {recipient}: another server tells from {place}, this one does when it ends; --alert-state gives it a place of its own"
                );
            }
            Opened::Taken => std::thread::sleep(LOOK),
        }
    }
    Ok(None)
}
