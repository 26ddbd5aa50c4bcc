//! Whom a daemon believes: the table `[auth]`.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::section::Section;
use crate::auth::{Method, Munge, Secret};

/// How peers over TCP are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trust {
    /// Whoever can connect.
    #[default]
    Open,
    /// Both know what this file holds.
    Secret(PathBuf),
    /// Both ask MUNGE.
    Munge {
        /// Its socket, if not the usual one.
        socket: Option<PathBuf>,
        /// Users whose daemons are believed; empty for root and the own user.
        users: BTreeSet<u32>,
    },
}

impl Trust {
    pub(super) fn read(mut section: Section<'_>) -> Trust {
        let word = section.needed("method");
        let secret = section.path("secret");
        let socket = section.path("munge_socket");
        let mut users = BTreeSet::new();
        for text in section.list("users") {
            match text.parse() {
                Ok(user) => drop(users.insert(user)),
                Err(_) => section.complain("users", format!("{text} is no user's number")),
            }
        }
        let trust = match (word.as_str(), secret) {
            ("none" | "", None) => Trust::Open,
            ("munge", None) => Trust::Munge { socket, users },
            ("secret", Some(path)) => Trust::Secret(path),
            ("secret", None) => {
                section.complain("secret", "says in which file the secret is, and is missing");
                Trust::Open
            }
            ("none" | "munge" | "", Some(_)) => {
                section.complain("secret", "belongs to method = \"secret\"");
                Trust::Open
            }
            (other, _) => {
                section.complain("method", format!("{other}: there are secret, munge and none"));
                Trust::Open
            }
        };
        if let Err(error) = trust.method() {
            section.complain("secret", error);
        }
        section.end();
        trust
    }

    /// What is asked and answered.
    ///
    /// # Errors
    /// The secret can not be read.
    pub fn method(&self) -> io::Result<Method> {
        Ok(match self {
            Trust::Open => Method::Open,
            Trust::Secret(path) => Method::Secret(Secret::read(path)?),
            Trust::Munge { socket, users } => {
                Method::Munge(Munge { socket: socket.clone(), users: users.clone() })
            }
        })
    }
}
