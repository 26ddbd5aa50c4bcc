//! HPE Slingshot network interfaces: `/sys/class/cxi/DEVICE/device/telemetry`, a file a counter that holds
//! `value@time`.

use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Slingshot;

/// Counters with one file.
const SINGLE: [(&str, &str); 5] = [
    ("hni_sts_rx_ok_octets", "slingshot.received_bytes"),
    ("hni_sts_tx_ok_octets", "slingshot.sent_bytes"),
    ("hni_pcs_corrected_cw", "slingshot.corrected_codewords"),
    ("hni_pcs_uncorrected_cw", "slingshot.uncorrected_codewords"),
    ("pct_no_tct_nacks", "slingshot.no_target_nacks"),
];
/// Counters with a file for each of eight traffic classes, which are added.
const CLASSES: [(&str, &str); 5] = [
    ("hni_pkts_recv_by_tc", "slingshot.received_packets"),
    ("hni_pkts_sent_by_tc", "slingshot.sent_packets"),
    ("hni_rx_paused", "slingshot.receive_paused_ticks"),
    ("hni_tx_paused", "slingshot.send_paused_ticks"),
    ("hni_discard_cntr", "slingshot.drops"),
];

impl Sampler for Slingshot {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for device in root.names("sys/class/cxi") {
            let folder = format!("sys/class/cxi/{device}/device/telemetry");
            for (file, name) in SINGLE {
                if let Some(value) = value(root, &format!("{folder}/{file}")) {
                    into.count(&device, name, value);
                }
            }
            for (file, name) in CLASSES {
                let class = |class| value(root, &format!("{folder}/{file}_{class}"));
                let sum = (0..8).filter_map(class).reduce(u64::saturating_add);
                if let Some(sum) = sum {
                    into.count(&device, name, sum);
                }
            }
        }
    }
}

fn value(root: &Root, path: &str) -> Option<u64> {
    root.text(path)?.trim().split('@').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn values_stand_before_their_time_and_classes_are_added() {
        let files = [
            ("sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "900@1700000000.5\n"),
            ("sys/class/cxi/cxi0/device/telemetry/hni_tx_paused_0", "3@1700000000.5\n"),
            ("sys/class/cxi/cxi0/device/telemetry/hni_tx_paused_7", "4@1700000000.5\n"),
        ];
        assert_eq!(
            lines(&mut Slingshot, &files),
            ["cxi0 slingshot.sent_bytes 900", "cxi0 slingshot.send_paused_ticks 7"]
        );
        survives(&mut Slingshot, &files);
    }
}
