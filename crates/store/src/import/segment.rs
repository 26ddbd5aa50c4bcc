//! Segments that processes left become the log of their job, and that is imported.

use netra_darshan::Log;
use netra_stream::job::{Job, Name, Target};
use netra_stream::source::{Life, Piece};
use tempfile::TempDir;

use super::source::said;

/// The log of a job's segments, and the folder that holds it.
///
/// A process that still runs has more to say: its job is refused until it has ended, because what is
/// imported once is not imported again.
pub(super) fn log(pieces: &[Piece]) -> Result<(Log, TempDir), String> {
    let running = pieces.iter().filter(|piece| piece.life == Life::Running).count();
    if running > 0 {
        return Err(format!(
            "{running} of its {} processes still run; import it when they have ended",
            pieces.len()
        ));
    }
    let folder = TempDir::with_prefix("netra-import-").map_err(|error| said(&error))?;
    let target = Target::File(folder.path().join("job.darshan"));
    let name = Name { user: "", program: None };
    let job = Job::new(pieces.to_vec());
    let written = job.write(&target, name, &mut |_, _, _| {}).map_err(|error| said(&error))?;
    if let Some((path, error)) = written.left_out.first() {
        return Err(format!("{} can not be read: {}", path.display(), said(error)));
    }
    let log = Log::open(&written.path).map_err(|error| said(&error))?;
    Ok((log, folder))
}
