//! A process's account: what each of its lanes produced and dropped, as its segment says, and what
//! a node read of it. It travels behind the events it speaks about, so whoever gets it knows what
//! should have come before.

use netra_event::Loss;
use netra_event::segment::LaneView;

use crate::pack::{Malformed, Packer, Unpacker};

/// One lane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaneAccount {
    /// Its number.
    pub lane: u32,
    /// Slots published.
    pub head: u64,
    /// Events written.
    pub produced: u64,
    /// Calls made, of all functions.
    pub calls: u64,
    /// Slots that the node has read and passed on.
    pub read_slots: u64,
    /// Events that the node has read and passed on.
    pub read: u64,
    /// Events dropped, by the code of the reason: those of the segment, and those of the node.
    pub dropped: Vec<(u8, u64)>,
}

impl LaneAccount {
    /// What the segment says of a lane; nothing of it was read yet.
    #[must_use]
    pub fn of(lane: &LaneView<'_>) -> LaneAccount {
        let dropped = Loss::ALL.iter().map(|&loss| (loss as u8, lane.dropped(loss).0));
        LaneAccount {
            lane: lane.number,
            head: lane.head(),
            produced: lane.produced(),
            calls: lane.calls().map(|(_, calls)| calls).fold(0, u64::saturating_add),
            read_slots: 0,
            read: 0,
            dropped: dropped.filter(|&(_, count)| count > 0).collect(),
        }
    }

    /// Events dropped for any reason.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.dropped.iter().map(|&(_, count)| count).fold(0, u64::saturating_add)
    }
}

/// All lanes of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// Whether the process is over and everything of it was read.
    pub is_final: bool,
    /// Calls by code of the function, over all lanes; empty before the end.
    pub calls: Vec<(u16, u64)>,
    /// The lanes.
    pub lanes: Vec<LaneAccount>,
}

impl Account {
    /// The body of a frame.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.byte(u8::from(self.is_final)).count(self.calls.len());
        for &(code, calls) in &self.calls {
            packer.word(u32::from(code)).long(calls);
        }
        packer.count(self.lanes.len());
        for lane in &self.lanes {
            packer.word(lane.lane).long(lane.head).long(lane.produced).long(lane.calls);
            packer.long(lane.read_slots).long(lane.read).count(lane.dropped.len());
            for &(code, count) in &lane.dropped {
                packer.byte(code).long(count);
            }
        }
        packer.bytes
    }

    /// Reads the body of a frame.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &[u8]) -> Result<Account, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let is_final = unpacker.byte()? != 0;
        let mut calls = Vec::new();
        for _ in 0..unpacker.count(12)? {
            let code = u16::try_from(unpacker.word()?);
            calls.push((code.map_err(|_| unpacker.malformed("no code"))?, unpacker.long()?));
        }
        let mut lanes = Vec::new();
        for _ in 0..unpacker.count(48)? {
            let mut lane = LaneAccount {
                lane: unpacker.word()?,
                head: unpacker.long()?,
                produced: unpacker.long()?,
                calls: unpacker.long()?,
                read_slots: unpacker.long()?,
                read: unpacker.long()?,
                dropped: Vec::new(),
            };
            for _ in 0..unpacker.count(9)? {
                lane.dropped.push((unpacker.byte()?, unpacker.long()?));
            }
            lanes.push(lane);
        }
        unpacker.end()?;
        Ok(Account { is_final, calls, lanes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_comes_back() {
        let lane = LaneAccount {
            lane: 3,
            head: 10,
            produced: 8,
            calls: 9,
            read_slots: 10,
            read: 8,
            dropped: vec![(0, 1)],
        };
        assert_eq!(lane.lost(), 1);
        let account = Account { is_final: true, calls: vec![(19, 9)], lanes: vec![lane] };
        let bytes = account.pack();
        assert_eq!(Account::unpack(&bytes), Ok(account));
        for length in 0..bytes.len() {
            assert!(Account::unpack(&bytes[..length]).is_err(), "{length}");
        }
    }
}
