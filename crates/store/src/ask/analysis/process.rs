//! The process of a module: bytes in, bytes out, and an end that does not depend on its good will.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use datafusion::arrow::ipc::reader::StreamReader;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::Value as Json;

use super::{Made, Settings};

/// What confines and runs a module.
const HARNESS: &str = include_str!("harness.py");
/// What Python may say on standard error.
const SAYS: u64 = 64 << 10;
/// Between two looks whether somebody still waits.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a process may take to end, once it has answered.
const GRACE: Duration = Duration::from_secs(1);

/// Answers a request. Whoever drops the future ends the process.
pub(super) async fn run(settings: &Settings, request: Vec<u8>) -> Result<Vec<u8>, String> {
    struct Dropped(Arc<AtomicBool>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let dropped = Dropped(Arc::default());
    let (settings, unwanted) = (settings.clone(), Arc::clone(&dropped.0));
    let work = tokio::task::spawn_blocking(move || answer(&settings, request, &unwanted));
    match work.await {
        Ok(answer) => answer,
        Err(error) => Err(error.to_string()),
    }
}

/// The table behind the first line of an answer.
pub(super) fn table(answer: &[u8]) -> Result<Made, String> {
    let broken =
        |error: datafusion::arrow::error::ArrowError| format!("its table is broken: {error}");
    let rows = StreamReader::try_new(answer, None).map_err(broken)?;
    let schema = rows.schema();
    let mut names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    names.sort();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("its table has the column \"{}\" twice", twice[0]));
    }
    let rows = rows.collect::<Result<Vec<_>, _>>().map_err(broken)?;
    Ok(Made { schema: rows.first().map_or(schema, |batch| batch.schema()), rows })
}

fn answer(settings: &Settings, request: Vec<u8>, unwanted: &AtomicBool) -> Result<Vec<u8>, String> {
    let mut child = start(settings)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // A module need not read all that it is given.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&request)));
    let answer = collect(stdout, settings.output.0);
    let says = collect(stderr, SAYS);
    let answered = wait(settings, &answer, unwanted);
    if answered.is_ok() {
        let_end(&child);
    }
    let ended = kill(&mut child);
    let answer = answered?;
    let said = says.recv_timeout(GRACE).unwrap_or_default();
    read(settings, answer, &said, ended)
}

fn start(settings: &Settings) -> Result<Child, String> {
    let mut command = Command::new(&settings.python);
    // Isolated: neither the environment nor the user's own packages change what runs.
    command.args(["-I", "-B", "-c", HARNESS]).env_clear().current_dir("/").process_group(0);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.env("LANG", "C.UTF-8").env("ARROW_DEFAULT_MEMORY_POOL", "system");
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(threads, "1");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| {
        let python = settings.python.display();
        format!("{python} can not be started: {error}; NETRA_PYTHON names an interpreter with pandas and pyarrow")
    })
}

/// Reads in a thread of its own, one byte more than allowed at most.
fn collect(from: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (to, collected) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What was read before an error is what there is.
            drop(from.take(most.saturating_add(1)).read_to_end(&mut bytes));
        }
        to.send(bytes).ok()
    });
    collected
}

/// Waits for the answer, as long as it may take and somebody wants it.
fn wait(
    settings: &Settings,
    answer: &Receiver<Vec<u8>>,
    unwanted: &AtomicBool,
) -> Result<Vec<u8>, String> {
    let until = Instant::now() + settings.time;
    loop {
        match answer.recv_timeout(PAUSE) {
            Ok(bytes) if bytes.len() as u64 > settings.output.0 => {
                return Err(format!("its table is larger than {} MiB", settings.output.0 >> 20));
            }
            Ok(bytes) => return Ok(bytes),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("its process can not be read".to_owned());
            }
            Err(RecvTimeoutError::Timeout) if unwanted.load(Ordering::Relaxed) => {
                return Err("nobody waits for it any more".to_owned());
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                return Err(format!("it took longer than {} s", settings.time.as_secs_f64()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// A process that has answered is about to end; how it ends is worth knowing. It stays to be waited for, so that
/// its number means nobody else.
fn let_end(child: &Child) {
    let Some(process) = number(child) else { return };
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let until = Instant::now() + GRACE;
    while Instant::now() < until && matches!(waitid(WaitId::Pid(process), look), Ok(None)) {
        thread::sleep(PAUSE / 10);
    }
}

/// Ends the process with all that it may have started; says how it ended.
fn kill(child: &mut Child) -> Option<ExitStatus> {
    if let Some(group) = number(child) {
        // It may have ended by itself.
        kill_process_group(group, Signal::KILL).ok();
    }
    drop(child.kill());
    child.wait().ok()
}

fn number(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// What an answer says: its first line is about how it went.
fn read(
    settings: &Settings,
    answer: Vec<u8>,
    said: &[u8],
    ended: Option<ExitStatus>,
) -> Result<Vec<u8>, String> {
    let end = answer.iter().position(|byte| *byte == b'\n');
    let head = end.and_then(|end| serde_json::from_slice::<Json>(&answer[..end]).ok());
    let (Some(end), Some(head)) = (end, head) else {
        let text = String::from_utf8_lossy(said);
        let last = text.trim().lines().last().map(|last| format!(", and said: {last}"));
        let how = ended.map(|status| format!(" ({status})"));
        let (how, last) = (how.unwrap_or_default(), last.unwrap_or_default());
        return Err(format!("{} ended without an answer{how}{last}", settings.python.display()));
    };
    if let Some(error) = head["error"].as_str() {
        return Err(match (head["line"].as_u64(), head["code"].as_str()) {
            (Some(line), Some(code)) => format!("line {line} ({code}): {error}"),
            (Some(line), None) => format!("line {line}: {error}"),
            _ => error.to_owned(),
        });
    }
    // A description is the line itself, a table stands behind it.
    let is_table = head.as_object().is_some_and(serde_json::Map::is_empty);
    Ok(answer[if is_table { end + 1 } else { 0 }..].to_vec())
}
