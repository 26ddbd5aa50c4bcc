//! Where records come from: the segments of processes, and the logs that processes wrote.

mod directory;
mod piece;
mod process;
mod roll;
mod segment;
mod timeline;
mod whole;

pub use directory::{directory, scan};
pub use piece::{Kind, Piece, is_launcher};
pub use process::{Life, Process, began};
pub use roll::Roll;
pub use segment::Segment;
pub use timeline::{Timed, Timeline};
