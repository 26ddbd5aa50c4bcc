//! The NFS client: calls in all (`/proc/net/rpc/nfs`), bytes and every kind of call per mount
//! (`/proc/self/mountstats`).

use super::root::numbers;
use super::{Root, Sample, Sampler};

/// See the module.
#[derive(Debug)]
pub(super) struct Nfs;

impl Sampler for Nfs {
    fn sample(&mut self, root: &Root, into: &mut Sample) {
        for line in root.text("proc/net/rpc/nfs").unwrap_or_default().lines() {
            if let Some(rest) = line.strip_prefix("rpc ")
                && let &[calls, again, ..] = &numbers(rest.split_ascii_whitespace())[..]
            {
                into.count("", "nfs.calls", calls);
                into.count("", "nfs.retransmits", again);
            }
        }
        let mut mount = None;
        for line in root.text("proc/self/mountstats").unwrap_or_default().lines() {
            match line.strip_prefix("device ") {
                Some(rest) => mount = nfs_mount(rest),
                None => {
                    if let Some(mount) = mount {
                        row(mount, line, into);
                    }
                }
            }
        }
    }
}

/// The mount point of `server:/export mounted on /home with fstype nfs4 statvers=1.1`, if it is NFS.
fn nfs_mount(line: &str) -> Option<&str> {
    let (place, kind) = line.split_once(" mounted on ")?.1.rsplit_once(" with fstype ")?;
    kind.starts_with("nfs").then_some(place)
}

fn row(mount: &str, line: &str, into: &mut Sample) {
    let Some((key, rest)) = line.trim().split_once(':') else { return };
    let found = numbers(rest.split_ascii_whitespace());
    if key == "bytes" {
        if let &[read, written, direct_read, direct_written, from_server, to_server, ..] =
            &found[..]
        {
            into.count(mount, "nfs.read_bytes", read);
            into.count(mount, "nfs.written_bytes", written);
            into.count(mount, "nfs.direct_read_bytes", direct_read);
            into.count(mount, "nfs.direct_written_bytes", direct_written);
            into.count(mount, "nfs.server_read_bytes", from_server);
            into.count(mount, "nfs.server_written_bytes", to_server);
        }
        return;
    }
    // Kinds of calls are written in capitals: READ, WRITE, GETATTR …
    let is_call = !key.is_empty() && key.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    match found[..] {
        [calls, sent, timeouts, _, _, queued, away, total, ..] if is_call && calls > 0 => {
            let key = key.to_ascii_lowercase();
            let mut add =
                |what: &str, value| into.count(mount, &format!("nfs.{key}_{what}"), value);
            add("calls", calls);
            add("retransmits", sent.saturating_sub(calls));
            add("timeouts", timeouts);
            add("queue_ms", queued);
            add("round_trip_ms", away);
            add("total_ms", total);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::captured::{lines, survives};
    use super::*;

    #[test]
    fn mounts_of_nfs_have_their_bytes_and_calls() {
        let files = [
            ("proc/net/rpc/nfs", "net 0 0 0 0\nrpc 120 3 120\nproc3 22 1 2 3\n"),
            (
                "proc/self/mountstats",
                "device proc mounted on /proc with fstype proc\n\
                 device s:/e mounted on /a b with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2\n\
                 \tbytes:\t1 2 3 4 5 6 7 8 \n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
                 \tper-op statistics\n\t        NULL: 0 0 0 0 0 0 0 0\n\t        READ: 10 11 1 100 200 5 6 7 0\n\
                 device tmpfs mounted on /t with fstype tmpfs\n\t        WRITE: 10 11 1 100 200 5 6 7 0\n",
            ),
        ];
        assert_eq!(
            lines(&mut Nfs, &files),
            [
                " nfs.calls 120",
                " nfs.retransmits 3",
                "/a b nfs.read_bytes 1",
                "/a b nfs.written_bytes 2",
                "/a b nfs.direct_read_bytes 3",
                "/a b nfs.direct_written_bytes 4",
                "/a b nfs.server_read_bytes 5",
                "/a b nfs.server_written_bytes 6",
                "/a b nfs.read_calls 10",
                "/a b nfs.read_retransmits 1",
                "/a b nfs.read_timeouts 1",
                "/a b nfs.read_queue_ms 5",
                "/a b nfs.read_round_trip_ms 6",
                "/a b nfs.read_total_ms 7",
            ]
        );
        survives(&mut Nfs, &files);
    }
}
