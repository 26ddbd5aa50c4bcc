//! Starting a command with the library in it, and waiting for its end.

#[cfg(feature = "serve")]
pub(crate) mod alarm;
pub(crate) mod child;
pub(crate) mod haven;
pub(crate) mod library;
pub(crate) mod live;
#[cfg(feature = "serve")]
pub(crate) mod page;
