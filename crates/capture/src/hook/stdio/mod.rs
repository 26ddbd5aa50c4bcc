//! C's buffered streams. A call counts once with the bytes it moved between the application and the
//! stream; what the buffer does below, inside libc, is no call of the application.
//!
//! [`stream`] knows which file a `FILE` belongs to and records; the other files hold the hooks by
//! what they do.

pub mod format;
pub mod open;
pub mod read;
pub mod seek;
pub mod stream;
pub mod wide;
pub mod write;
