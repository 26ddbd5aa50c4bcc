//! Asks a server as a program does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use netra_show::serve::Server;
use serde_json::Value;

/// Long enough for a busy machine, short enough to end.
const PATIENCE: Duration = Duration::from_secs(120);

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Status, headers, body.
pub(crate) fn ask(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> (u16, String, String) {
    let mut stream = connect(server);
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: {}\r\n", server.address);
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{text}Content-Length: 0\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), body.to_owned())
}

/// Status and document, with a token.
pub(crate) fn get(server: &Server, path: &str, token: &str) -> (u16, Value) {
    let (status, body) = text(server, path, token);
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

/// Status and body, with a token.
pub(crate) fn text(server: &Server, path: &str, token: &str) -> (u16, String) {
    let authorization = format!("Bearer {token}");
    let (status, _, body) = ask(server, "GET", path, &[("Authorization", &authorization)]);
    (status, body)
}

/// A stream of events.
pub(crate) struct Following(BufReader<TcpStream>);

impl Following {
    /// Begins to follow, behind an event where one is named.
    pub(crate) fn begin(server: &Server, path: &str, token: &str, last: Option<&str>) -> Following {
        let mut stream = connect(server);
        let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{last}\r\n",
            server.address
        )
        .unwrap();
        Following(BufReader::new(stream))
    }

    /// The next event: its id and its document.
    pub(crate) fn next(&mut self) -> (String, Value) {
        let (mut id, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(found) = line.strip_prefix("id: ") {
                id = found.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).unwrap());
            }
        }
    }
}
