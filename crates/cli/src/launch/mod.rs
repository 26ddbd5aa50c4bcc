//! Starting a command with the library in it, and waiting for its end.

pub(crate) mod child;
pub(crate) mod library;
pub(crate) mod live;
