//! The job: numbers, metadata, command line, mounts.

use super::text::{Lines, one_line};
use super::{Encoder, Step};
use crate::record::job::{Job, METADATA, REGION, SIZE};
use netra_event::Loss;
use netra_event::segment::{Mount, State, View};

/// Ends a command line that was cut.
const CUT: &[u8] = b"<TRUNCATED>";
/// Bytes for the command line and the mounts, with room for the NUL.
const TEXT: usize = REGION - SIZE - 1;

/// Writes the region; it follows the header and ends where the names begin.
pub(super) fn write(encoder: &mut Encoder<'_>) -> Step {
    let (view, clock) = (encoder.view, encoder.clock);
    let (start_sec, start_nsec) = seconds(clock.start);
    let (end_sec, end_nsec) = seconds(clock.end);
    let nprocs = encoder.options.nprocs.or(view.nprocs()).unwrap_or(1);
    let job = Job {
        uid: i64::from(view.uid()),
        start_sec,
        start_nsec,
        end_sec,
        end_nsec,
        nprocs: i64::from(nprocs),
        jobid: view.job_id(),
    };
    let ended = encoder.options.ended.is_some();
    let mut region = encoder.region();
    region.write(&job.encode())?;
    region.write(metadata(&view, ended).bytes())?;
    let command = view.command();
    let keep = if command.len() > TEXT { TEXT.saturating_sub(CUT.len()) } else { TEXT };
    for &byte in command.iter().take(keep) {
        region.write(&[one_line(byte)])?;
    }
    let mut room = TEXT.saturating_sub(command.len());
    if command.len() > TEXT {
        region.write(CUT)?;
    }
    for mount in view.mounts().filter(readable) {
        let length = mount.kind.len().saturating_add(mount.point.len()).saturating_add(2);
        if length <= room {
            room = room.saturating_sub(length);
            for part in [b"\n", mount.kind, b"\t", mount.point] {
                region.write(part)?;
            }
        }
    }
    region.write(&[0])?;
    region.finish()?;
    Ok(())
}

fn seconds(nanos: u64) -> (i64, i64) {
    let (sec, nsec) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    (sec.cast_signed(), nsec.cast_signed())
}

/// Mount lines are split at white space, so one with white space in it can not be kept.
fn readable(mount: &Mount<'_>) -> bool {
    let plain = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|byte| !byte.is_ascii_whitespace() && *byte != 0)
    };
    plain(mount.kind) && plain(mount.point)
}

fn metadata(view: &View<'_>, ended: bool) -> Lines<METADATA> {
    let mut lines = Lines::new();
    lines.pair(b"lib_ver", concat!("netra-", env!("CARGO_PKG_VERSION")).as_bytes());
    if let Some(parent) = view.fork_parent() {
        lines.number(b"fork_parent", u64::from(parent));
    }
    lines.number(b"netra_pid", u64::from(view.pid()));
    lines.pair(
        b"netra_state",
        match view.state() {
            _ if ended => b"ended",
            Some(State::Clean) => b"ended",
            Some(State::Exec) => b"exec",
            // It did not say; whoever recovers it knows that it is dead.
            Some(State::Running) | None => b"killed",
        },
    );
    for &loss in Loss::ALL {
        let dropped = view.lanes().map(|lane| lane.dropped(loss).0);
        match dropped.fold(0, u64::saturating_add) {
            0 => {}
            count => lines.dropped(loss.slug(), count),
        }
    }
    lines.pair(b"netra_job", view.job());
    lines.pair(b"netra_host", view.host());
    lines
}
