//! Who is at the other end: a shared secret, or MUNGE.
//!
//! Nothing here touches a socket. The one that was called ([`Door`]) asks, the caller answers with
//! [`Method::answer`], and the called one answers in turn, so that neither believes the other unproven:
//!
//! ```text
//! caller                                   called
//!   hello  ──────────────────────────────→
//!          ←──────────────────────────────  challenge: method, nonce
//!   proof: nonce, "I know it, as caller" ─→
//!          ←──────────────────────────────  proof: "I know it, as called"
//! ```
//!
//! Every proof is over both nonces, the hello and what binds it to the connection beneath (TLS), with
//! the prover's role: one that was seen can not be sent back, sent again or used for another greeting.
//! `docs/format/auth.md` has the bytes. The secret proves who is there, no more: on a network that others
//! can change, [`crate::wire::tls`] goes below it.

mod munge;
mod secret;

use sha2::{Digest as _, Sha256};

pub use munge::Munge;
pub use secret::Secret;

use crate::pack::{Malformed, Packer, Unpacker};

/// A random number that is used once.
pub type Nonce = [u8; 32];

/// The hash of all that a proof is about.
pub(crate) type Transcript = [u8; 32];

/// Which side of a connection proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It opened the connection.
    Caller,
    /// It was called.
    Called,
}

impl Role {
    /// What goes into a proof: different for each, so that a proof can not be turned round.
    pub(crate) const fn label(self) -> &'static [u8] {
        match self {
            Role::Caller => b"netra caller",
            Role::Called => b"netra called",
        }
    }
}

/// How peers are known.
#[derive(Debug, Clone)]
pub enum Method {
    /// Whoever can connect.
    Open,
    /// Both know a secret.
    Secret(Secret),
    /// Both ask the MUNGE service of their hosts.
    Munge(Munge),
}

/// Who somebody was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The user, where the method tells.
    pub uid: Option<u32>,
    /// Whether it was proven at all.
    pub proven: bool,
}

/// Why a peer is not believed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The other side wants something else.
    #[error("the peer asks for {asked}, and {known} is set here; both need the same")]
    Method {
        /// What it asks for.
        asked: &'static str,
        /// What is set here.
        known: &'static str,
    },
    /// A method of a newer netra.
    #[error("the peer asks for a way to prove oneself that this netra does not know ({0})")]
    Unknown(u8),
    /// The bytes are not an answer.
    #[error("the peer's answer can not be read")]
    Malformed(#[from] Malformed),
    /// It does not know the secret.
    #[error("the peer does not know the secret")]
    Wrong,
    /// MUNGE says no.
    #[error("MUNGE does not accept the peer's credential: {0}")]
    Munge(String),
    /// A user that may not be here.
    #[error("the peer is user {found}; only {allowed} may be")]
    User {
        /// Who it is.
        found: u32,
        /// Who is expected.
        allowed: String,
    },
    /// There is no randomness, or MUNGE can not be asked.
    #[error("{0}")]
    System(String),
}

impl Method {
    /// Its word in settings and messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        method_name(self.code())
    }

    const fn code(&self) -> u8 {
        match self {
            Method::Open => 0,
            Method::Secret(_) => 1,
            Method::Munge(_) => 2,
        }
    }

    /// Whether nothing is asked.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Method::Open)
    }

    fn prove(&self, role: Role, about: &Transcript) -> Result<Vec<u8>, Refusal> {
        match self {
            Method::Open => Ok(Vec::new()),
            Method::Secret(secret) => Ok(secret.prove(role, about).to_vec()),
            Method::Munge(munge) => munge.prove(role, about),
        }
    }

    fn check(&self, role: Role, about: &Transcript, proof: &[u8]) -> Result<Peer, Refusal> {
        match self {
            Method::Open => Ok(Peer { uid: None, proven: false }),
            Method::Secret(secret) => match secret.verify(role, about, proof) {
                true => Ok(Peer { uid: None, proven: true }),
                false => Err(Refusal::Wrong),
            },
            Method::Munge(munge) => {
                munge.verify(role, about, proof).map(|uid| Peer { uid: Some(uid), proven: true })
            }
        }
    }
}

const fn method_name(code: u8) -> &'static str {
    match code {
        0 => "nothing",
        1 => "a shared secret",
        2 => "MUNGE",
        _ => "something newer",
    }
}

/// What the called one remembers between its question and the answer.
#[derive(Debug)]
pub struct Door<'a> {
    method: &'a Method,
    nonce: Nonce,
}

impl<'a> Door<'a> {
    /// Thinks of a question.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn new(method: &'a Method) -> Result<Door<'a>, Refusal> {
        Ok(Door { method, nonce: nonce()? })
    }

    /// The body of the challenge.
    #[must_use]
    pub fn challenge(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.byte(self.method.code());
        packer.bytes.extend_from_slice(&self.nonce);
        packer.bytes
    }

    /// Hears the caller's proof: who it is, and the proof that it gets in turn. `hello` is what it
    /// greeted with, `beneath` what names the connection below (empty without TLS).
    ///
    /// # Errors
    /// It is not believed.
    pub fn admit(
        self,
        hello: &[u8],
        beneath: &[u8],
        proof: &[u8],
    ) -> Result<(Peer, Vec<u8>), Refusal> {
        let mut unpacker = Unpacker::new(proof);
        let theirs = read_nonce(&mut unpacker)?;
        let about = transcript(hello, beneath, &theirs, &self.nonce);
        let peer = self.method.check(Role::Caller, &about, unpacker.rest())?;
        Ok((peer, self.method.prove(Role::Called, &about)?))
    }
}

/// What the caller remembers between its proof and the one it gets.
#[derive(Debug)]
pub struct Answer<'a> {
    method: &'a Method,
    about: Transcript,
    /// The body of the caller's proof.
    pub proof: Vec<u8>,
}

impl Method {
    /// Answers a challenge.
    ///
    /// # Errors
    /// The other side asks for something that is not set here.
    pub fn answer(
        &self,
        hello: &[u8],
        beneath: &[u8],
        challenge: &[u8],
    ) -> Result<Answer<'_>, Refusal> {
        let mut unpacker = Unpacker::new(challenge);
        let code = unpacker.byte()?;
        if code > 2 {
            return Err(Refusal::Unknown(code));
        }
        if code != self.code() {
            return Err(Refusal::Method { asked: method_name(code), known: self.name() });
        }
        let theirs = read_nonce(&mut unpacker)?;
        unpacker.end()?;
        let mine = nonce()?;
        let about = transcript(hello, beneath, &mine, &theirs);
        let proof = [&mine[..], &self.prove(Role::Caller, &about)?].concat();
        Ok(Answer { method: self, about, proof })
    }
}

impl Answer<'_> {
    /// Hears the proof of the one that was called.
    ///
    /// # Errors
    /// It is not believed.
    pub fn confirm(self, proof: &[u8]) -> Result<Peer, Refusal> {
        self.method.check(Role::Called, &self.about, proof)
    }
}

fn read_nonce(unpacker: &mut Unpacker<'_>) -> Result<Nonce, Malformed> {
    let mut nonce = Nonce::default();
    nonce.copy_from_slice(unpacker.take(size_of::<Nonce>())?);
    Ok(nonce)
}

fn nonce() -> Result<Nonce, Refusal> {
    let mut nonce = Nonce::default();
    getrandom::fill(&mut nonce)
        .map_err(|error| Refusal::System(format!("no randomness: {error}")))?;
    Ok(nonce)
}

/// Lengths go in too: no byte can move from one field to the next unnoticed.
fn transcript(hello: &[u8], beneath: &[u8], caller: &Nonce, called: &Nonce) -> Transcript {
    let mut hash = Sha256::new();
    hash.update(b"netra auth 1");
    for part in [hello, beneath, caller, called] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
