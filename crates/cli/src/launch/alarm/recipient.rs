//! Who is told of findings: a command gets them on its standard input, a web address by POST. Each has ten seconds.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use netra_show::live::Alert;

const PATIENCE: Duration = Duration::from_secs(10);
/// How often a command is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recipient {
    /// A command for the shell.
    Command(String),
    /// An http:// address.
    Address(String),
}

impl Recipient {
    /// What it is called in files: another command is the same recipient.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Recipient::Command(_) => "command",
            Recipient::Address(_) => "url",
        }
    }

    /// Tells it; what it has taken is told.
    pub(super) fn tell(&self, alert: &Alert) -> io::Result<()> {
        let text = alert.json().to_string();
        match self {
            Recipient::Command(command) => run(command, alert, &text),
            Recipient::Address(url) => post(url, &text),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Its words may hold a secret.
            Recipient::Command(_) => f.write_str("--alert-command"),
            Recipient::Address(_) => f.write_str("--alert-url"),
        }
    }
}

/// Only what is sent in the clear can be sent here; the rest is for a command.
pub(super) fn url(text: &str) -> Result<String, String> {
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
            None => std::thread::sleep(LOOK),
        }
    }
}

fn post(url: &str, text: &str) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    let (host, path) = parts(url).ok_or_else(|| io::Error::other("no address"))?;
    let mut stream = connect(&host, until)?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.set_write_timeout(Some(left(until)?))?;
    stream.write_all(request.as_bytes()).map_err(late)?;
    let answer = status(&mut stream, until)?;
    match answer.get(9) {
        Some(b'2') => Ok(()),
        _ => Err(io::Error::other(format!("it answers {}", String::from_utf8_lossy(&answer)))),
    }
}

/// What an answer begins with: the version and the number that says how it went.
fn status(stream: &mut TcpStream, until: Instant) -> io::Result<[u8; 12]> {
    let mut answer = [0; 12];
    let mut rest = &mut answer[..];
    while !rest.is_empty() {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(rest).map_err(late)? {
            0 => return Err(io::Error::other("it does not answer as a web server does")),
            size => rest = rest.get_mut(size..).unwrap_or_default(),
        }
    }
    Ok(answer)
}

/// A name may have several addresses, of which some are not listened on.
fn connect(host: &str, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::other(format!("{host} is not known"));
    for address in host.to_socket_addrs()?.collect::<Vec<SocketAddr>>() {
        match TcpStream::connect_timeout(&address, left(until)?) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = late(error),
        }
    }
    Err(last)
}

/// How much of the ten seconds is left.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(late(io::ErrorKind::TimedOut.into()));
    }
    Ok(left)
}

/// The system's word for time that is over is "temporarily unavailable".
fn late(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::other("it took more than ten seconds")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
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
    fn what_is_no_answer_of_a_web_server_is_a_failure() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            for answer in [&b"HTTP/1.1 500 Sorry\r\n\r\n"[..], b"HTTP"] {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut [0; 16]).unwrap();
                stream.write_all(answer).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                // Whoever has read enough hangs up, and may do so hard.
                stream.read_to_end(&mut Vec::new()).ok();
            }
        });
        let says = || post(&url, "{}").unwrap_err().to_string();
        assert_eq!(says(), "it answers HTTP/1.1 500");
        assert_eq!(says(), "it does not answer as a web server does");
        server.join().unwrap();
    }

    #[test]
    fn only_plain_addresses_are_taken() {
        assert_eq!(parts("http://a/b/c"), Some(("a:80".into(), "/b/c".into())));
        assert_eq!(parts("http://a:8080"), Some(("a:8080".into(), "/".into())));
        assert!(url("https://a").is_err() && url("http://").is_err());
        assert!(url("http://a/\r\nX: y").is_err());
    }
}
