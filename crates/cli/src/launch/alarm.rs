//! Tells of findings while jobs run: a command gets them on its standard input, a web address by POST. Who does
//! not answer holds nothing back: each has ten seconds.

use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_show::live::{Alert, Alerts, Live};
use netra_stream::clock::Clock;
use netra_stream::stop::Stop;

const PATIENCE: Duration = Duration::from_secs(10);
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
    /// Findings that are told in a minute at most; others wait
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    alert_limit: usize,
}

/// Only what is sent in the clear can be sent here; the rest is for a command.
fn url(text: &str) -> Result<String, String> {
    match parts(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err("an http:// address is needed; for https use --alert-command with curl".into()),
    }
}

/// Host with port, and path.
fn parts(url: &str) -> Option<(String, String)> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let has_port = host.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let plain = |c: char| c.is_ascii_graphic();
    if host.is_empty() || !rest.chars().all(plain) {
        return None;
    }
    let host = if has_port { host.to_owned() } else { format!("{host}:80") };
    Some((host, format!("/{path}")))
}

impl Alarm {
    /// Tells until told to stop; for a thread of its own.
    pub(crate) fn run(&self, live: &Arc<Live>, clock: &Clock, stop: &Stop) {
        if self.alert_command.is_none() && self.alert_url.is_none() {
            return;
        }
        let mut alerts = Alerts::new(self.alert_limit);
        while !stop.is_set() {
            let due = alerts.due(&live.lock(), clock.now());
            for alert in &due {
                self.tell(alert);
            }
            std::thread::sleep(LOOK);
        }
    }

    fn tell(&self, alert: &Alert) {
        let text = alert.json().to_string();
        let told = [
            self.alert_command.as_deref().map(|command| run(command, alert, &text)),
            self.alert_url.as_deref().map(|url| post(url, &text)),
        ];
        for error in told.into_iter().flatten().filter_map(Result::err) {
            eprintln!("netra: an alert about {} of job {}: {error}", alert.slug, alert.job);
        }
    }
}

fn run(command: &str, alert: &Alert, text: &str) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env("NETRA_JOB", &alert.job).env("NETRA_RULE", &alert.slug);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A command that does not want to read it is fine too.
        input.write_all(text.as_bytes()).ok();
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(io::Error::other(format!("the command ended with {status}")));
            }
            None if Instant::now() >= until => {
                child.kill().ok();
                child.wait()?;
                return Err(io::Error::other("the command took more than ten seconds"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn post(url: &str, text: &str) -> io::Result<()> {
    let (host, path) = parts(url).ok_or_else(|| io::Error::other("no address"))?;
    let address = host.to_socket_addrs()?.next();
    let address = address.ok_or_else(|| io::Error::other(format!("{host} is not known")))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )?;
    let mut answer = [0; 12];
    io::Read::read_exact(&mut stream, &mut answer)?;
    match answer.get(9) {
        Some(b'2') => Ok(()),
        _ => Err(io::Error::other(format!("it answers {}", String::from_utf8_lossy(&answer)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::net::TcpListener;

    fn alert() -> Alert {
        Alert {
            job: "slurm.7".into(),
            uid: Some(1),
            command: "app".into(),
            slug: "small-writes".into(),
            title: "Small writes".into(),
            level: "HIGH",
            says: "it writes \"little\"".into(),
            lost: 1.5,
            since: 9,
        }
    }

    #[test]
    fn a_command_gets_the_finding() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("told");
        let command = format!("cat > {0}; echo $NETRA_RULE >> {0}", file.display());
        run(&command, &alert(), &alert().json().to_string()).unwrap();
        let told = std::fs::read_to_string(file).unwrap();
        assert!(told.contains("\"job\":\"slurm.7\"") && told.ends_with("small-writes\n"), "{told}");
        assert!(run("exit 3", &alert(), "").unwrap_err().to_string().contains("3"));
    }

    #[test]
    fn a_web_address_gets_the_finding() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut line) = (String::new(), String::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                head += &std::mem::take(&mut line);
            }
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            (head, body)
        });
        post(&url, "{\"a\":1}").unwrap();
        let (head, body) = server.join().unwrap();
        assert!(head.starts_with("POST /hook HTTP/1.1"), "{head}");
        assert_eq!(body, b"{\"a\":1}");
    }

    #[test]
    fn only_plain_addresses_are_taken() {
        assert_eq!(parts("http://a/b/c"), Some(("a:80".into(), "/b/c".into())));
        assert_eq!(parts("http://a:8080"), Some(("a:8080".into(), "/".into())));
        assert!(url("https://a").is_err() && url("http://").is_err());
        assert!(url("http://a/\r\nX: y").is_err());
    }
}
