//! The wire: frames over TCP or a Unix socket, one connection a pair of daemons.
//!
//! The caller says [`Hello`], the other [`Welcome`] or why not; then frames go one way and
//! acknowledgements the other: *that many frames of this connection are durable here*. Whoever sends
//! keeps a frame until then and sends it again over the next connection; whoever receives knows what it
//! has. Memory is bounded on both sides: one frame being read, a window of bytes not acknowledged.
//! [`tls`] goes below all of it where it is set.

mod address;
mod channel;
mod comparison;
mod greeting;
mod guard;
mod link;
mod listen;
mod listener;
mod session;
mod socket;
mod stream;
pub mod tls;

pub use address::Address;
pub use channel::Channel;
pub use greeting::{Hello, Purpose, Refusal, VERSIONS, Welcome};
pub use guard::{Guard, Proven};
pub use link::{Caller, Link, Plain};
pub use listen::{Door, Open, Server};
pub use listener::Listener;
pub use stream::{Frames, read_control, send_control};
