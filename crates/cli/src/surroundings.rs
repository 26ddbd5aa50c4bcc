//! What the environment says about places and names: where segments lie, where logs go.

use std::env;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use netra_event::{Seconds, Setting, switch};
use netra_stream::job::Target;
use netra_stream::source;

use crate::setting;

/// The user's number.
pub(crate) fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The time, in seconds since 1970.
pub(crate) fn now() -> Seconds {
    Seconds(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()))
}

/// How many seccomp filters this program works under, as in a container; those of the same number of its
/// children are the same ones.
pub(crate) fn filters() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |key: &str| -> Option<u64> {
        status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    };
    // Before Linux 5.9 the kernel says only that there are some.
    let has_some = value("Seccomp:").is_some_and(|mode| mode > 0);
    if has_some { value("Seccomp_filters:").unwrap_or(1) } else { 0 }
}

/// What the names of logs begin with.
pub(crate) fn user() -> String {
    let name = env::var("LOGNAME").unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if !name.is_empty() && name.chars().all(plain) { name } else { uid().to_string() }
}

/// The folder of the user's segments.
pub(crate) fn segments() -> PathBuf {
    let (given, temporary) = (setting::value(Setting::SegmentDir), env::var_os("TMPDIR"));
    source::directory(given.as_deref(), temporary.as_deref(), uid())
}

/// The folder of what the user's programs remember, where the environment says where that is.
pub(crate) fn state() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(set("HOME")?.join(".local/state"));
    Some(set("XDG_STATE_HOME").or_else(home)?.join("netra"))
}

/// The setting that leaves netra out of everything, if there is one.
pub(crate) fn left_out() -> Option<&'static str> {
    let says = |setting: Setting| switch(setting::value(setting)?.as_bytes());
    if says(Setting::Netra) == Some(false) {
        return Some("NETRA=off");
    }
    (says(Setting::Disable) == Some(true)).then_some("NETRA_DISABLE=1")
}

/// Where a log goes: as asked for on the command line, else by the environment, else to the
/// user's data. Paths become absolute.
pub(crate) fn target(file: Option<&Path>, folder: Option<&Path>) -> Result<Target> {
    let absolute = |path: &Path| std::path::absolute(path).context("finding the current folder");
    if let Some(file) = file {
        return Ok(Target::File(absolute(file)?));
    }
    if let Some(folder) = folder {
        return Ok(Target::Folder(absolute(folder)?));
    }
    let variable =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let said =
        |setting| setting::value(setting).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(file) = said(Setting::LogFile) {
        return Ok(Target::File(file));
    }
    if let Some(folder) = said(Setting::LogDir) {
        return Ok(Target::Folder(folder));
    }
    let (data, home) = (variable("XDG_DATA_HOME"), variable("HOME"));
    let folder = Target::default_folder(data.as_deref(), home.as_deref())
        .context("neither HOME nor XDG_DATA_HOME is set; say where the log goes with --log-dir")?;
    Ok(Target::Folder(folder))
}
