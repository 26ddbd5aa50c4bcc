//! The page of `netra run --live`: what the daemon reads is added up, looked at by the rules, and served on
//! this machine to whoever has the address.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use netra_show::live::{Doctor, Live, Setup, Watching};
use netra_show::serve::{Server, Settings, User, Users, make_token, wait_until};
use netra_stream::clock::Clock;
use netra_stream::daemon::Sinks;
use netra_stream::stop::Stop;

use crate::{settings, surroundings, word};

/// The sink's name.
const SINK: &str = "page";
/// How long pages that follow have to get the last state.
const FAREWELL: Duration = Duration::from_secs(3);

/// What is wished of the page.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Wish {
    /// Where the live page is served
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", requires = "live")]
    live_address: SocketAddr,
    /// Serve the live page so much longer than the command runs, such as 30s
    #[arg(long, value_name = "TIME", requires = "live", value_parser = word::duration, allow_negative_numbers = true)]
    live_for: Option<Duration>,
    /// Open the live page in a browser, where there is a screen
    #[arg(long, requires = "live")]
    live_open: bool,
    /// Serve it to other machines although nothing is encrypted; `ssh -L` is the better way
    #[arg(long, requires = "live")]
    live_unencrypted: bool,
    #[arg(skip)]
    quiet: bool,
}

impl Wish {
    /// The same, without a word where nothing goes wrong.
    pub(crate) fn quietly(mut self, quiet: bool) -> Wish {
        self.quiet = quiet;
        self
    }
}

/// The page of one run.
pub(crate) struct Page {
    doctor: Arc<Doctor>,
    server: Option<Server>,
    stop: Arc<Stop>,
    thread: JoinHandle<()>,
    longer: Duration,
    quiet: bool,
}

impl Page {
    /// Begins to serve, and says where.
    pub(crate) fn start(
        wish: Wish,
        job: &str,
        folder: &Path,
        clock: &Arc<Clock>,
    ) -> Result<(Page, Sinks)> {
        let live = Arc::new(Live::default());
        let sink = Watching::new(Arc::clone(&live), Arc::clone(clock));
        let setup = setup(None)?;
        let server = serve(&wish, job, Arc::clone(&live), clock, &setup);
        let doctor = Doctor::new(live, Arc::clone(clock), setup, scratch(folder));
        let (doctor, stop) = (Arc::new(doctor), Arc::new(Stop::new()?));
        let (working, until) = (Arc::clone(&doctor), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("netra-doctor".to_owned())
            .spawn(move || working.run(&until))?;
        let longer = wish.live_for.unwrap_or_default();
        let page = Page { doctor, server, stop, thread, longer, quiet: wish.quiet };
        Ok((page, vec![(SINK.to_owned(), Box::new(sink))]))
    }

    /// The command has ended and everything was read: the last diagnosis, and a moment for whoever looks.
    pub(crate) fn finish(self, job: &str) {
        self.stop.set();
        self.thread.join().ok();
        let Some(server) = self.server else { return };
        if server.viewers() == 0 && self.longer.is_zero() {
            return;
        }
        self.doctor.look(job);
        if !self.longer.is_zero() && !self.quiet {
            let seconds = self.longer.as_secs_f64();
            eprintln!("netra: the page is served for another {seconds} s");
        }
        // Pages get the last state within a tick, then ask for the report.
        wait_until(self.longer.max(FAREWELL), || self.longer.is_zero() && server.viewers() == 0);
        server.stop();
    }
}

/// A page is a favour: without it the command runs all the same.
fn serve(
    wish: &Wish,
    job: &str,
    live: Arc<Live>,
    clock: &Arc<Clock>,
    setup: &Setup,
) -> Option<Server> {
    let start = || -> Result<(Server, String)> {
        let token = make_token()?;
        let me = User::new(&surroundings::user(), Some(surroundings::uid()), false, &token);
        let settings = Settings {
            address: wish.live_address,
            hosts: vec![wish.live_address.ip().to_string()],
            users: Users::new(vec![me]),
            names: names(),
            servers: setup.servers.clone(),
            tls: None,
            allow_plain: wish.live_unencrypted,
        };
        Ok((Server::start(settings, live, Arc::clone(clock))?, token))
    };
    match start() {
        Ok((server, token)) => {
            let address = address("http", server.address, job, &token);
            if !wish.quiet {
                eprintln!("netra: live at {address}");
            }
            if wish.live_open {
                open(&address);
            }
            Some(server)
        }
        Err(error) => {
            let open = wish.live_address.ip();
            let hint = if open.is_loopback() || wish.live_unencrypted {
                ""
            } else {
                "; --live-unencrypted says so"
            };
            eprintln!("netra: there is no live page: {error:#}{hint}");
            None
        }
    }
}

/// Opens an address in the browser of whoever sits before a screen. Where there is none, it was printed.
fn open(address: &str) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !screen {
        return;
    }
    let mut opener = Command::new("xdg-open");
    opener.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = opener.spawn() {
        // Nobody waits for it, but somebody has to take note of its end.
        std::thread::spawn(move || child.wait());
    }
}

/// The address of a job's page. The token stands behind `#`, which browsers keep to themselves.
pub(crate) fn address(scheme: &str, server: SocketAddr, job: &str, token: &str) -> String {
    let path = if job.is_empty() { String::new() } else { format!("jobs/{}", escaped(job)) };
    format!("{scheme}://{server}/{path}#token={token}")
}

/// Any text as one part of a path.
pub(crate) fn escaped(text: &str) -> String {
    let mut part = String::new();
    for byte in text.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                part.push(char::from(byte));
            }
            byte => part.push_str(&format!("%{byte:02X}")),
        }
    }
    part
}

/// What the rules go by: the files of settings that reports have too.
pub(crate) fn setup(thresholds: Option<&Path>) -> Result<Setup> {
    let settings = settings::read(thresholds)?;
    Ok(Setup { rules: settings.setup(), servers: settings.servers.clone() })
}

/// Where logs lie for the moment of a diagnosis: in memory where the system has a place for that, so
/// that the job's own disks have no work with it.
pub(crate) fn scratch(otherwise: &Path) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let own = memory.join(format!("netra-{}", surroundings::uid()));
    let usable = memory.is_dir() && fs::create_dir_all(&own).is_ok() && is_ours(&own);
    if usable { own } else { otherwise.join("scratch") }
}

/// A folder of somebody else's with that name is not used.
fn is_ours(folder: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(about) = fs::symlink_metadata(folder) else { return false };
    let private = fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).is_ok();
    about.is_dir() && about.uid() == surroundings::uid() && private
}

/// What the system calls its users.
pub(crate) fn names() -> BTreeMap<u32, String> {
    let text = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let row = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        Some((fields.nth(1)?.parse().ok()?, name))
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_job_of_any_name_has_an_address() {
        let server = "127.0.0.1:8080".parse().unwrap();
        assert_eq!(
            address("http", server, "slurm.7/α", "t"),
            "http://127.0.0.1:8080/jobs/slurm.7%2F%CE%B1#token=t"
        );
        assert_eq!(address("https", server, "", "t"), "https://127.0.0.1:8080/#token=t");
    }
}
