//! Who may come in by password: a file with a line for each user.
//!
//! ```text
//! # name     who            salt and salted password (SCRAM-SHA-256)
//! alice      1000           SCRAM-SHA-256$4096:c2FsdA==$...
//! grafana    administrator  SCRAM-SHA-256$4096:...
//! ```
//!
//! The file must belong to its reader alone: who can read a salted password can come in with it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use datafusion_postgres::pgwire::api::auth::sasl::scram::gen_salted_password;
use netra_store::ask::Who;

use crate::base64;

/// Rounds of hashing; RFC 7677 asks for as many at least.
pub(super) const ROUNDS: usize = 4096;
const MECHANISM: &str = "SCRAM-SHA-256";

/// What is known of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) who: Who,
    pub(super) salt: Vec<u8>,
    pub(super) salted: Vec<u8>,
}

/// The users of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Users {
    by_name: BTreeMap<String, User>,
}

impl Users {
    /// Reads a file that only its owner may read.
    pub fn read(path: &Path) -> io::Result<Users> {
        let wrong = |what: String| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
        };
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("reading {}: {error}", path.display()))
        };
        let mode = fs::metadata(path).map_err(named)?.mode();
        if mode & 0o077 != 0 {
            return Err(wrong(format!(
                "others may read it (mode {:04o}): chmod 600 it",
                mode & 0o7777
            )));
        }
        Users::parse(&fs::read_to_string(path).map_err(named)?).map_err(wrong)
    }

    /// Reads lines; the error says which is wrong.
    pub(super) fn parse(text: &str) -> Result<Users, String> {
        let mut users = Users::default();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, user) = user(line).map_err(|what| format!("line {number}: {what}"))?;
            if users.by_name.insert(name.to_owned(), user).is_some() {
                return Err(format!("line {number}: {name} is there twice"));
            }
        }
        Ok(users)
    }

    pub(super) fn get(&self, name: &str) -> Option<&User> {
        self.by_name.get(name)
    }

    /// Who comes with this name and password; for doors that get the password itself, over TLS.
    #[must_use]
    pub fn verify(&self, name: &str, password: &str) -> Option<Who> {
        let user = self.by_name.get(name)?;
        let offered = gen_salted_password(password, &user.salt, ROUNDS);
        // Every byte is looked at, so that time tells nothing about where they differ.
        let differs = offered.iter().zip(&user.salted).fold(0, |all, (a, b)| all | (a ^ b));
        (differs == 0 && offered.len() == user.salted.len()).then_some(user.who)
    }
}

/// A line for the file.
#[must_use]
pub fn entry(name: &str, who: Who, password: &str, salt: &[u8]) -> String {
    let who = match who {
        Who::Administrator => "administrator".to_owned(),
        Who::User(uid) => uid.to_string(),
    };
    let salted = base64::encode(&gen_salted_password(password, salt, ROUNDS));
    format!("{name} {who} {MECHANISM}${ROUNDS}:{}${salted}", base64::encode(salt))
}

fn user(line: &str) -> Result<(&str, User), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, who, secret] = words.as_slice() else {
        return Err("a line is: name, user number or \"administrator\", secret".to_owned());
    };
    let who = match (*who, who.parse()) {
        ("administrator", _) => Who::Administrator,
        (_, Ok(uid)) => Who::User(uid),
        (other, Err(_)) => return Err(format!("\"{other}\" is no user number")),
    };
    let (salt, salted) = secrets(secret)
        .ok_or_else(|| format!("the secret of {name} is not one that netra made"))?;
    Ok((name, User { who, salt, salted }))
}

fn secrets(secret: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let rest = secret.strip_prefix(MECHANISM)?.strip_prefix('$')?;
    let (rounds, rest) = rest.split_once(':')?;
    let (salt, salted) = rest.split_once('$')?;
    let (salt, salted) = (base64::decode(salt)?, base64::decode(salted)?);
    (rounds.parse() == Ok(ROUNDS) && salt.len() >= 8 && salted.len() == 32)
        .then_some((salt, salted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    const SALT: &[u8] = b"0123456789abcdef";

    #[test]
    fn an_entry_reads_back_and_verifies() {
        let lines = format!(
            "# who may come in\n\n{}\n{}\n",
            entry("alice", Who::User(1000), "secret", SALT),
            entry("root", Who::Administrator, "öffne", SALT)
        );
        let users = Users::parse(&lines).unwrap();
        assert_eq!(users.verify("alice", "secret"), Some(Who::User(1000)));
        assert_eq!(users.verify("root", "öffne"), Some(Who::Administrator));
        assert_eq!(users.verify("alice", "Secret"), None);
        assert_eq!(users.verify("bob", "secret"), None);
    }

    #[track_caller]
    fn refused(line: &str, want: &str) {
        assert_eq!(Users::parse(line).unwrap_err(), want);
    }

    #[test]
    fn a_wrong_line_is_named() {
        refused("alice", "line 1: a line is: name, user number or \"administrator\", secret");
        refused("\nalice me x", "line 2: \"me\" is no user number");
        refused("alice 1 plain", "line 1: the secret of alice is not one that netra made");
        let twice = entry("a", Who::User(1), "x", SALT);
        refused(&format!("{twice}\n{twice}"), "line 2: a is there twice");
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), entry("a", Who::User(1), "x", SALT)).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        let error = Users::read(file.path()).unwrap_err().to_string();
        assert!(error.ends_with("others may read it (mode 0640): chmod 600 it"), "{error}");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Users::read(file.path()).unwrap().verify("a", "x"), Some(Who::User(1)));
    }
}
