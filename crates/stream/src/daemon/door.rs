//! Where clients of PostgreSQL ask the daemon's store; what the texts mean is the program's business.

use std::path::PathBuf;
use std::time::Duration;

use super::section::Section;

/// Where clients of PostgreSQL ask the daemon's store: they see what is in no file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    /// Address and port.
    pub listen: Option<String>,
    /// Directory of a socket.
    pub socket: Option<PathBuf>,
    /// File of users and passwords.
    pub users: Option<PathBuf>,
    /// Certificate and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// How long a question may take.
    pub timeout: Duration,
    /// Memory for all questions together, in bytes.
    pub memory: u64,
    /// Connections at a time.
    pub connections: u64,
}

impl Default for Door {
    fn default() -> Door {
        Door {
            listen: None,
            socket: None,
            users: None,
            tls: None,
            timeout: Duration::from_secs(300),
            memory: 256 << 20,
            connections: 100,
        }
    }
}

impl Door {
    pub(super) fn read(mut section: Section<'_>) -> Door {
        let default = Door::default();
        let (certificate, key) = (section.path("certificate"), section.path("key"));
        if certificate.is_some() != key.is_some() {
            section.complain("certificate", "needs its key, and the key its certificate");
        }
        let connections = section.parsed("connections", str::parse).unwrap_or(default.connections);
        let door = Door {
            listen: section.text("listen"),
            socket: section.path("socket"),
            users: section.path("users"),
            tls: certificate.zip(key),
            timeout: section.duration("timeout", default.timeout),
            memory: section.size("memory", default.memory),
            connections,
        };
        if door.listen.is_none() && door.socket.is_none() {
            section.complain("socket", "or listen says where clients come, and both are missing");
        }
        if door.listen.is_some() && door.users.is_none() {
            section.complain("users", "says who may come over the network, and is missing");
        }
        section.end();
        door
    }
}
