//! Streams with tags: whoever wants gets what is published, as it comes, and never holds anybody back.
//!
//! The [`Board`] shows every frame that a daemon takes to those whose [`Wish`] names it. Each
//! [`Subscription`] has a bounded [`Queue`]; what had no room is counted, and told at the place where it is
//! missing.

mod board;
mod publish;
mod queue;
mod subscribe;
mod tag;

pub use board::{Board, MOST, Subscription};
pub(crate) use publish::take_messages;
pub use publish::{Publisher, accept};
pub use queue::{Item, Limits, Loss, Queue};
pub(crate) use subscribe::give_frames;
pub use subscribe::{Received, Subscriber};
pub use tag::{IO, LONGEST, METRICS, Wish, is_essential, publishable, tag_of};
