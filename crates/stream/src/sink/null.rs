//! The sink that keeps nothing: it opens what it gets, as every sink does, and forgets it. For
//! measurements, and for daemons that only keep a ledger.

use std::io;

use super::{Mark, Sink};
use crate::batch::{Batch, Images};

/// Keeps nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Null;

impl Sink for Null {
    fn take(&mut self, _: &Batch, _: &Images) -> io::Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Mark> {
        Ok(Mark::new())
    }

    fn resume(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
