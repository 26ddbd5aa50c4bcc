//! MUNGE: the service of a cluster that says which user made a credential.
//!
//! Asked through its own programs `munge` and `unmunge`, once a connection: they speak whatever protocol the
//! installed service has, and this crate stays without unsafe code.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::{Refusal, Role, Transcript};

/// How long MUNGE may take; its daemon may be gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a credential; ours have about 250.
const LONGEST: usize = 4096;

/// How MUNGE is asked, and whom to believe.
#[derive(Debug, Clone, Default)]
pub struct Munge {
    /// The service's socket, if not the usual one.
    pub socket: Option<PathBuf>,
    /// Users whose daemons are believed; empty for root and the own user.
    pub users: BTreeSet<u32>,
}

impl Munge {
    /// A credential that says who we are and what it is for.
    pub(super) fn prove(&self, role: Role, about: &Transcript) -> Result<Vec<u8>, Refusal> {
        let made = self.run("munge", &[], payload(role, about).as_bytes())?;
        Ok(made.trim_end().as_bytes().to_vec())
    }

    /// Who made a credential, if it is for this.
    pub(super) fn verify(
        &self,
        role: Role,
        about: &Transcript,
        credential: &[u8],
    ) -> Result<u32, Refusal> {
        if credential.len() > LONGEST || !credential.starts_with(b"MUNGE:") {
            return Err(Refusal::Munge("it is none".to_owned()));
        }
        let says = self.run("unmunge", &["--keys=STATUS,UID"], credential)?;
        let (uid, found) = opened(&says)
            .ok_or_else(|| Refusal::System("unmunge gave an answer of another shape".to_owned()))?;
        // Not a secret, so it may be compared in any way.
        if found != payload(role, about) {
            return Err(Refusal::Munge("it was made for something else".to_owned()));
        }
        self.allow(uid)
    }

    fn allow(&self, uid: u32) -> Result<u32, Refusal> {
        let usual = BTreeSet::from([0, rustix::process::geteuid().as_raw()]);
        let allowed = if self.users.is_empty() { &usual } else { &self.users };
        if allowed.contains(&uid) {
            return Ok(uid);
        }
        let allowed = allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        Err(Refusal::User { found: uid, allowed })
    }

    /// Runs a program of MUNGE over some bytes, and not for long.
    fn run(&self, program: &str, words: &[&str], input: &[u8]) -> Result<String, Refusal> {
        let system = |error: std::io::Error| Refusal::System(format!("asking {program}: {error}"));
        let mut command = Command::new(program);
        if let Some(socket) = &self.socket {
            command.arg("--socket").arg(socket);
        }
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(system)?;
        // Both directions fit into a pipe, so neither side waits for the other.
        let sent = child.stdin.take().map(|mut to| to.write_all(input));
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait().map_err(system)? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    drop(child.kill());
                    drop(child.wait());
                    return Err(Refusal::System(format!("{program} did not answer")));
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let (mut out, mut err) = (String::new(), String::new());
        if let (Some(from), Some(complaint)) = (child.stdout, child.stderr) {
            from.take(64 << 10).read_to_string(&mut out).map_err(system)?;
            complaint.take(64 << 10).read_to_string(&mut err).map_err(system)?;
        }
        if !status.success() {
            // What is wrong with a credential is its status; other troubles are complaints.
            let status = out.lines().find_map(|line| line.strip_prefix("STATUS:"));
            let says = status.or_else(|| err.lines().next()).unwrap_or("it said nothing");
            return Err(Refusal::Munge(says.trim().to_owned()));
        }
        sent.transpose().map_err(system)?;
        Ok(out)
    }
}

/// What a credential carries: a hash, as text.
fn payload(role: Role, about: &Transcript) -> String {
    let mut hash = Sha256::new();
    hash.update(role.label());
    hash.update(about);
    let hash: [u8; 32] = hash.finalize().into();
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    hash.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

/// User and payload from what `unmunge` prints: lines such as `UID: 1000`, an empty one, the payload.
fn opened(text: &str) -> Option<(u32, &str)> {
    let (head, payload) = text.split_once("\n\n")?;
    let uid = head.lines().find_map(|line| line.strip_prefix("UID:"))?;
    // The name stands before the number: `root (0)`.
    let digits = uid.trim().trim_end_matches(')').rsplit(['(', ' ']).next()?;
    Some((digits.parse().ok()?, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_unmunge_is_read() {
        assert_eq!(opened("STATUS: Success (0)\nUID:   1000\n\nabc"), Some((1000, "abc")));
        assert_eq!(opened("UID:              root (0)\n\nabc"), Some((0, "abc")));
        assert_eq!(opened("UID: x\n\nabc"), None);
        assert_eq!(opened("nonsense"), None);
    }

    #[test]
    fn what_is_no_credential_never_reaches_munge() {
        for bytes in [&b""[..], b"hello", &[b'M'; 5000]] {
            let refusal = Munge::default().verify(Role::Caller, &[0; 32], bytes).unwrap_err();
            assert!(matches!(refusal, Refusal::Munge(_)), "{refusal}");
        }
    }

    #[test]
    fn only_named_users_are_believed() {
        let munge = Munge { socket: None, users: BTreeSet::from([5, 9]) };
        assert_eq!(munge.allow(9).unwrap(), 9);
        let says = munge.allow(0).unwrap_err().to_string();
        assert_eq!(says, "the peer is user 0; only 5, 9 may be");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(Munge::default().allow(own).unwrap(), own);
        assert!(Munge::default().allow(own + 77).is_err());
    }
}
