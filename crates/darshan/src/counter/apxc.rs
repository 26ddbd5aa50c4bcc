//! AutoPerf's Cray XC router counters: 392 numbers a blade, their names made from their place.

use core::fmt;

/// Numbers in a record.
pub const COUNT: usize = 5 * 8 * 9 + 8 * 4;

/// The name of a counter, made when it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(pub usize);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PROCESSOR: [&str; 4] = [
            "INCOMING_FLIT_VC0",
            "INCOMING_FLIT_VC4",
            "REQ_ROWBUS_STALL_CNT",
            "RSP_ROWBUS_STALL_CNT",
        ];
        let Name(index) = *self;
        if let Some(index) = index.checked_sub(5 * 8 * 9) {
            let (column, what) = (index / 4, PROCESSOR[index % 4]);
            return write!(f, "AR_RTR_PT_5_{column}_INQ_PRF_{what}");
        }
        let (row, column) = (index / 72, index / 9 % 8);
        match index % 9 {
            8 => write!(f, "AR_RTR_{row}_{column}_INQ_PRF_ROWBUS_STALL_CNT"),
            channel => write!(f, "AR_RTR_{row}_{column}_INQ_PRF_INCOMING_FLIT_VC{channel}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COUNT, Name};
    use std::string::ToString;

    #[test]
    fn names_follow_from_the_place() {
        assert_eq!(Name(0).to_string(), "AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0");
        assert_eq!(Name(8).to_string(), "AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT");
        assert_eq!(Name(359).to_string(), "AR_RTR_4_7_INQ_PRF_ROWBUS_STALL_CNT");
        assert_eq!(Name(360).to_string(), "AR_RTR_PT_5_0_INQ_PRF_INCOMING_FLIT_VC0");
        assert_eq!(Name(COUNT - 1).to_string(), "AR_RTR_PT_5_7_INQ_PRF_RSP_ROWBUS_STALL_CNT");
    }
}
