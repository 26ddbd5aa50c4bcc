//! The wire: frames over TCP or a Unix socket, one connection a pair of daemons.
//!
//! The caller says [`Hello`], the other [`Welcome`] or why not; then frames go one way and
//! acknowledgements the other: *that many frames of this connection are durable here*. Whoever sends
//! keeps a frame until then and sends it again over the next connection; whoever receives knows what it
//! has. Memory is bounded on both sides: one frame being read, a window of bytes not acknowledged.

mod address;
mod channel;
mod greeting;
mod guard;
mod link;
mod listen;
mod stream;

pub use address::Address;
pub use channel::{Channel, Listener};
pub use greeting::{Hello, Purpose, Refusal, VERSIONS, Welcome};
pub use guard::{Guard, Proven};
pub use link::{Caller, Link, Plain};
pub use listen::{Door, Open, Server};
pub use stream::{Frames, read_control, send_control};
