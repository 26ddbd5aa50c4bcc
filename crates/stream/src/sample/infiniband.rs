//! InfiniBand, RoCE and Omni-Path ports: `/sys/class/infiniband/DEVICE/ports/PORT/counters`.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Infiniband;

/// Files, what they are called here, and what turns them into that unit: data is counted in words of
/// four bytes.
const COUNTERS: [(&str, &str, u64); 9] = [
    ("port_rcv_data", "infiniband.received_bytes", 4),
    ("port_xmit_data", "infiniband.sent_bytes", 4),
    ("port_rcv_packets", "infiniband.received_packets", 1),
    ("port_xmit_packets", "infiniband.sent_packets", 1),
    ("port_xmit_wait", "infiniband.send_wait_ticks", 1),
    ("port_xmit_discards", "infiniband.send_drops", 1),
    ("port_rcv_errors", "infiniband.receive_errors", 1),
    ("symbol_error", "infiniband.symbol_errors", 1),
    ("link_downed", "infiniband.link_downs", 1),
];

impl Sampler for Infiniband {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        const CLASS: &str = "sys/class/infiniband";
        for device in root.names(CLASS) {
            for port in root.names(&format!("{CLASS}/{device}/ports")) {
                let folder = format!("{CLASS}/{device}/ports/{port}/counters");
                for (file, name, factor) in COUNTERS {
                    if let Some(value) = root.number(&format!("{folder}/{file}")) {
                        let value = value.saturating_mul(factor);
                        into.count(&format!("{device}/{port}"), name, value);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn words_become_bytes() {
        let files = [
            ("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25\n"),
            ("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "7\n"),
            ("sys/class/infiniband/hfi1_0/ports/1/counters/port_xmit_data", "3\n"),
            ("sys/class/infiniband/hfi1_0/ports/1/counters/link_downed", "N/A (no PMA)\n"),
        ];
        assert_eq!(
            lines(&mut Infiniband, &files),
            [
                "hfi1_0/1 infiniband.sent_bytes 12",
                "mlx5_0/1 infiniband.received_bytes 100",
                "mlx5_0/1 infiniband.send_wait_ticks 7",
            ]
        );
        survives(&mut Infiniband, &files);
    }
}
