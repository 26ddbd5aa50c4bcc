//! Which processes are one job where no scheduler says so: what one launcher of MPI started, else what one shell put into
//! one process group.

use crate::roll;
use crate::settings::SETTINGS;
use crate::sys;
use crate::text::{Text, decimal};

/// Generations between a rank and a process that it started, at most.
const DEEPEST: u32 = 16;

/// The job's text key.
pub fn key(host: &[u8], key: &mut Text<192>) {
    match SETTINGS.namespace() {
        // PMIx names the job, the same on all nodes.
        namespace @ [_, ..] => {
            key.push(b"pmix.").push(namespace);
        }
        [] if SETTINGS.launch().is_by_pmi => {
            let launcher = launcher();
            key.push(host).push(b".").number(launcher).push(b".").number(began(launcher));
        }
        [] => {
            // The group's first process may be gone while others of it begin; the session's seldom is.
            let session = began(u64::from(sys::session()));
            key.push(host).push(b".").number(u64::from(sys::group())).push(b".").number(session);
        }
    }
}

fn began(pid: u64) -> u64 {
    of_process(pid, b"/stat").path().map_or(0, roll::started)
}

fn of_process(pid: u64, file: &[u8]) -> Text<40> {
    let mut path = Text::new();
    path.push(b"/proc/").number(pid).push(file);
    path
}

/// The process that starts the ranks of this host: the first one above us that is not one of them, nor started by one.
fn launcher() -> u64 {
    let mut pid = u64::from(sys::ask(libc::SYS_getppid));
    for _ in 0..DEEPEST {
        if !is_below_pmi(pid) {
            break;
        }
        match parent(pid) {
            Some(above) if above > 1 => pid = above,
            _ => break,
        }
    }
    pid
}

/// A process's parent: the fourth field of its `stat`, behind a name in brackets that may hold anything.
fn parent(pid: u64) -> Option<u64> {
    let mut buffer = [0_u8; 512];
    let mut path = of_process(pid, b"/stat");
    let file = sys::open(path.path()?, libc::O_RDONLY, 0).ok()?;
    let length = file.read(&mut buffer).ok()?;
    let stat = buffer.get(..length)?;
    let name = stat.iter().rposition(|&byte| byte == b')')?;
    decimal(stat.get(name..)?.split(|&byte| byte == b' ').nth(2)?)
}

/// Whether a process was given a rank.
fn is_below_pmi(pid: u64) -> bool {
    const NAME: &[u8] = b"\0PMI_RANK=";
    let mut path = of_process(pid, b"/environ");
    let Some(Ok(file)) = path.path().map(|path| sys::open(path, libc::O_RDONLY, 0)) else {
        return false;
    };
    let mut buffer = [0_u8; 2048];
    // What comes before the first variable ends one, too; and the end of a part begins the next.
    let mut held = 1_usize;
    while let Ok(count @ 1..) = file.read(buffer.get_mut(held..).unwrap_or_default()) {
        let filled = held.saturating_add(count);
        let part = buffer.get(..filled).unwrap_or_default();
        if part.windows(NAME.len()).any(|window| window == NAME) {
            return true;
        }
        let keep = filled.min(NAME.len());
        buffer.copy_within(filled.saturating_sub(keep)..filled, 0);
        held = keep;
    }
    false
}
