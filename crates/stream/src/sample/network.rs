//! Network devices: `/proc/net/dev`. Those that never carried anything are left out.

use super::root::numbers;
use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Network;

impl Sampler for Network {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        // The file of process 1 would be another name space's.
        for line in root.text("proc/net/dev").unwrap_or_default().lines() {
            let Some((name, rest)) = line.rsplit_once(':') else { continue };
            let found = numbers(rest.split_ascii_whitespace());
            if let Some(numbers) = found.first_chunk::<16>() {
                device(name.trim(), numbers, into);
            }
        }
    }
}

fn device(name: &str, numbers: &[u64; 16], into: &mut Sample) {
    let &[received, rx_packets, rx_errors, rx_dropped, _, _, _, _, rest @ ..] = numbers;
    let [sent, tx_packets, tx_errors, tx_dropped, ..] = rest;
    if rx_packets == 0 && tx_packets == 0 {
        return;
    }
    into.count(name, "network.received_bytes", received);
    into.count(name, "network.received_packets", rx_packets);
    into.count(name, "network.receive_errors", rx_errors);
    into.count(name, "network.receive_drops", rx_dropped);
    into.count(name, "network.sent_bytes", sent);
    into.count(name, "network.sent_packets", tx_packets);
    into.count(name, "network.send_errors", tx_errors);
    into.count(name, "network.send_drops", tx_dropped);
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn both_directions_of_devices_in_use() {
        let files = [(
            "proc/net/dev",
            "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  \
             ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n  \
             eth0:1608   46    1    2    0     0          0         0  2800   29    3    4    0     0       0          0\n",
        )];
        assert_eq!(
            lines(&mut Network, &files),
            [
                "eth0 network.received_bytes 1608",
                "eth0 network.received_packets 46",
                "eth0 network.receive_errors 1",
                "eth0 network.receive_drops 2",
                "eth0 network.sent_bytes 2800",
                "eth0 network.sent_packets 29",
                "eth0 network.send_errors 3",
                "eth0 network.send_drops 4",
            ]
        );
        survives(&mut Network, &files);
    }
}
