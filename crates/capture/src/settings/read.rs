//! Reading settings: the file first, then the environment over it.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering};

use netra_event::Setting;

use super::{LONGEST_PATH, Launch, Settings, Texts};
use crate::module;
use crate::real;
use crate::sys;
use crate::text::{Text, decimal, trim};

/// The least that makes sense: a few chunks.
const BUDGET_LEAST: u64 = 64 << 10;
/// The most: an address space is large, but not without end.
const BUDGET_MOST: u64 = 16 << 30;
const BOUNDS: &[u8] = b"is not a size from 64KiB to 16GiB";

impl Settings {
    /// Reads the file and then the environment.
    ///
    /// # Safety
    /// `environment` is null or a list of C strings that ends with null; nobody else reads or
    /// writes settings yet.
    pub unsafe fn read(&self, environment: *const *const c_char) {
        // SAFETY: the caller vouches that we are alone.
        let texts = unsafe { &mut *self.texts.get() };
        // SAFETY: the caller's list.
        let variables = || unsafe { variables(environment) };
        for variable in variables() {
            if let Some(path) = variable.strip_prefix(b"NETRA_CONFIG=") {
                self.read_file(path, texts);
            }
        }
        let own = real::own_name();
        for variable in variables() {
            if let Some(list) = variable.strip_prefix(b"LD_PRELOAD=") {
                let names = list.split(|byte| b": \t\n".contains(byte)).any(|entry| entry == own);
                self.preloaded.store(u32::from(names), Ordering::Relaxed);
                continue;
            }
            let Some(at) = variable.iter().position(|&byte| byte == b'=') else { continue };
            let (name, value) = (variable.get(..at), variable.get(at.wrapping_add(1)..));
            let (Some(name), Some(value)) = (name, value) else { continue };
            if !name.starts_with(b"NETRA") {
                surroundings(name, value, texts);
            } else if let Some(setting) = Setting::of_variable(name) {
                self.take(setting, value, texts);
            }
        }
    }

    fn read_file(&self, path: &[u8], texts: &mut Texts) {
        let mut name = Text::<LONGEST_PATH>::new();
        name.push(path);
        let opened = name.path().map(|name| sys::open(name, libc::O_RDONLY, 0));
        let Some(Ok(file)) = opened else {
            complain(texts, b"config", path, b"cannot be read");
            return;
        };
        let mut buffer = [0_u8; 4096];
        let length = file.read_full(&mut buffer);
        if length == buffer.len() {
            complain(texts, b"config", path, b"is longer than 4 KiB; the rest is ignored");
        }
        for line in buffer.get(..length).unwrap_or_default().split(|&byte| byte == b'\n') {
            let line = trim(line);
            // What follows the first table is for the program.
            if line.first() == Some(&b'[') {
                break;
            }
            let Some(at) = line.iter().position(|&byte| byte == b'=') else { continue };
            let key = trim(line.get(..at).unwrap_or_default());
            let value = trim(line.get(at.wrapping_add(1)..).unwrap_or_default());
            if key.first() == Some(&b'#') {
                continue;
            }
            let value = value.strip_prefix(b"\"").unwrap_or(value);
            // Other keys are the program's.
            if let Some(setting) = Setting::of_key(key) {
                self.take(setting, value.strip_suffix(b"\"").unwrap_or(value), texts);
            }
        }
    }

    /// One setting; its key is written large in the environment and small in the file.
    fn take(&self, setting: Setting, value: &[u8], texts: &mut Texts) {
        match setting {
            Setting::Netra => self.take_switch(&self.disabled, b"netra", value, false, texts),
            // An older word never brings back what NETRA=off has left out.
            Setting::Disable if self.disabled() => {}
            Setting::Disable => self.take_switch(&self.disabled, b"disable", value, true, texts),
            Setting::LogDir => path(b"log_dir", value, texts, |texts| &mut texts.log_dir),
            Setting::LogDirLater => {
                path(b"log_dir_later", value, texts, |texts| &mut texts.log_dir_later);
            }
            Setting::Platform => path(b"platform", value, texts, |texts| &mut texts.platform),
            Setting::LogFile => path(b"log_file", value, texts, |texts| &mut texts.log_file),
            Setting::SegmentDir => {
                path(b"segment_dir", value, texts, |texts| &mut texts.segment_dir);
            }
            Setting::Roll => path(b"roll", value, texts, |texts| &mut texts.roll),
            Setting::Only => put(&mut texts.only, value),
            Setting::Except => put(&mut texts.except, value),
            Setting::Filters => match decimal(value) {
                Some(count) => self.filters.store(count, Ordering::Relaxed),
                None => complain(texts, b"filters", value, b"is not a number"),
            },
            Setting::Job => put(&mut texts.job, value),
            Setting::Exclude => put(&mut texts.exclude, value),
            Setting::Include => put(&mut texts.include, value),
            Setting::Modules => self.take_modules(value, texts),
            Setting::Trace => self.take_switch(&self.untraced, b"trace", value, false, texts),
            Setting::Stream => self.take_switch(&self.streamed, b"stream", value, true, texts),
            Setting::Debug => self.take_switch(&self.debug, b"debug", value, true, texts),
            Setting::Lossless => match bounded(value) {
                Some(size) => self.lossless.store(size, Ordering::Relaxed),
                None => complain(texts, b"lossless", value, BOUNDS),
            },
            Setting::TraceBudget => match bounded(value) {
                Some(size) => self.budget.store(size, Ordering::Relaxed),
                None => complain(texts, b"trace_budget", value, BOUNDS),
            },
            Setting::LogTraces => match size(value) {
                Some(size) => self.log_traces.store(size, Ordering::Relaxed),
                None => complain(texts, b"log_traces", value, b"is not a size such as 64MiB"),
            },
            Setting::FinalizeWait => match duration(value) {
                Some(nanos) => self.patience.store(nanos, Ordering::Relaxed),
                None => complain(texts, b"finalize_wait", value, b"is not a time such as 60s"),
            },
            // Read before all others; and what is others' to read.
            Setting::Config
            | Setting::Analysis
            | Setting::Daemon
            | Setting::Preload
            | Setting::Python
            | Setting::Store
            | Setting::Program
            | Setting::Token
            | Setting::Logs
            | Setting::Patience
            | Setting::Root => {}
        }
    }

    /// `on` or `off`; `set` is what `on` stores.
    fn take_switch(
        &self,
        switch: &AtomicU32,
        key: &[u8],
        value: &[u8],
        set: bool,
        texts: &mut Texts,
    ) {
        let Some(on) = netra_event::switch(value) else {
            return complain(texts, key, value, b"is neither on nor off");
        };
        switch.store(u32::from(on == set), Ordering::Relaxed);
    }

    /// A list of modules that are on, or of `-NAME` that are off.
    fn take_modules(&self, value: &[u8], texts: &mut Texts) {
        let mut off = 0_u32;
        let only = value.split(|&byte| byte == b',').any(|name| !trim(name).starts_with(b"-"));
        if only {
            off = u32::MAX;
        }
        for name in value.split(|&byte| byte == b',').map(trim) {
            let (without, name) = match name.strip_prefix(b"-") {
                Some(name) => (true, name),
                None => (false, name),
            };
            let known =
                module::ALL.iter().find(|module| name.eq_ignore_ascii_case(module.name.as_bytes()));
            match known {
                Some(module) => {
                    let bit = 1_u32.wrapping_shl(module.index as u32);
                    off = if without { off | bit } else { off & !bit };
                }
                None => return complain(texts, b"modules", name, b"is no module"),
            }
        }
        self.modules_off.store(off, Ordering::Relaxed);
    }
}

/// The strings of an environment.
///
/// # Safety
/// As for [`Settings::read`].
pub(crate) unsafe fn variables<'a>(
    environment: *const *const c_char,
) -> impl Iterator<Item = &'a [u8]> {
    let mut next = environment;
    core::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: the list ends with null, which has not been passed.
        let variable = unsafe { next.read() };
        if variable.is_null() {
            next = core::ptr::null();
            return None;
        }
        next = next.wrapping_add(1);
        // SAFETY: a non-null entry is a C string.
        Some(unsafe { CStr::from_ptr(variable) }.to_bytes())
    })
}

fn path(
    key: &[u8],
    value: &[u8],
    texts: &mut Texts,
    place: impl Fn(&mut Texts) -> &mut Text<LONGEST_PATH>,
) {
    if value.first() != Some(&b'/') || value.len() >= LONGEST_PATH {
        return complain(texts, key, value, b"is not an absolute path below 512 bytes");
    }
    let text = place(texts);
    text.truncate(0);
    text.push(value);
}

/// A text that takes the place of another.
fn put<const N: usize>(text: &mut Text<N>, value: &[u8]) {
    text.truncate(0);
    text.push(value);
}

/// What others set that we may read: where to put things, and what the launcher knows.
fn surroundings(name: &[u8], value: &[u8], texts: &mut Texts) {
    let number = || decimal(value).and_then(|value| u32::try_from(value).ok());
    let launch = &mut texts.launch;
    match name {
        b"XDG_DATA_HOME" if value.first() == Some(&b'/') => {
            texts.data_home.truncate(0);
            texts.data_home.push(value);
        }
        b"HOME" if texts.data_home.bytes().is_empty() && value.first() == Some(&b'/') => {
            texts.data_home.push(value).push(b"/.local/share");
        }
        b"TMPDIR" if value.first() == Some(&b'/') => {
            texts.temporary.push(value);
        }
        b"LOGNAME" => {
            texts.user.push(value);
        }
        b"PMI_RANK" | b"OMPI_COMM_WORLD_RANK" | b"PMIX_RANK" => {
            launch.rank = number().or(launch.rank);
            launch.is_by_pmi |= name == b"PMI_RANK";
        }
        b"PMIX_NAMESPACE" => {
            texts.namespace.truncate(0);
            texts.namespace.push(value);
        }
        b"SLURM_PROCID" => launch.rank = launch.rank.or(number()),
        b"PMI_SIZE" | b"OMPI_COMM_WORLD_SIZE" => launch.nprocs = number().or(launch.nprocs),
        b"SLURM_NTASKS" => launch.nprocs = launch.nprocs.or(number()),
        b"SLURM_JOB_NODELIST" | b"LSB_MCPU_HOSTS" => allocation(texts, b"nodes", value),
        b"SLURM_JOB_NUM_NODES" | b"PBS_NUM_NODES" | b"FLUX_JOB_NNODES" => {
            allocation(texts, b"node_count", value);
        }
        b"SLURM_NODEID" | b"PBS_NODENUM" => allocation(texts, b"node_index", value),
        b"SLURM_JOB_PARTITION" | b"PBS_QUEUE" | b"LSB_QUEUE" | b"COBALT_QUEUE" => {
            allocation(texts, b"queue", value);
        }
        b"SLURM_TOPOLOGY_ADDR" | b"COBALT_PARTNAME" => allocation(texts, b"topology", value),
        b"PBS_NODEFILE" | b"LSB_DJOB_HOSTFILE" | b"COBALT_NODEFILE" => {
            allocation(texts, b"node_file", value);
        }
        b"SLURM_STEP_ID" => launch.step = decimal(value).unwrap_or(0),
        b"SLURM_JOB_ID" => scheduler(launch, "slurm", value),
        b"PBS_JOBID" => scheduler(launch, "pbs", value),
        b"LSB_JOBID" => scheduler(launch, "lsf", value),
        b"COBALT_JOBID" => scheduler(launch, "cobalt", value),
        b"FLUX_JOB_ID" => scheduler(launch, "flux", value),
        _ => {}
    }
}

/// Keeps what a scheduler says of the allocation; a line that does not fit is left out whole.
fn allocation(texts: &mut Texts, key: &[u8], value: &[u8]) {
    let held = texts.allocation.bytes().len();
    texts.allocation.push(key).push(b"=").push(value).push(b"\n");
    if texts.allocation.is_cut() || value.contains(&b'\n') {
        texts.allocation.truncate(held);
    }
}

/// The digits a job's name begins with are its number.
fn scheduler(launch: &mut Launch, name: &'static str, value: &[u8]) {
    let digits = value.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(value.len());
    if let Some(id) = value.get(..digits).and_then(decimal) {
        launch.job_id = Some(id);
        launch.scheduler = name;
    }
}

fn complain(texts: &mut Texts, key: &[u8], value: &[u8], what: &[u8]) {
    let value = value.get(..value.len().min(80)).unwrap_or_default();
    texts.notes.push(b"setting ").push(key).push(b": \"").push(value).push(b"\" ").push(what);
    texts.notes.push(b"; the default is used\n");
}

/// A time with its unit, in nanoseconds; a day at most.
fn duration(value: &[u8]) -> Option<u64> {
    const MOST: u64 = 86_400_000_000_000;
    let at = value.iter().position(|byte| !byte.is_ascii_digit())?;
    let unit = match trim(value.get(at..)?) {
        b"ms" => 1_000_000,
        b"s" => 1_000_000_000,
        b"min" => 60_000_000_000,
        _ => return None,
    };
    decimal(value.get(..at)?)?.checked_mul(unit).filter(|&nanos| nanos <= MOST)
}

/// What a trace may take.
fn bounded(value: &[u8]) -> Option<u64> {
    size(value).filter(|size| (BUDGET_LEAST..=BUDGET_MOST).contains(size))
}

/// A size with its unit; a bare number could mean anything.
fn size(value: &[u8]) -> Option<u64> {
    const UNITS: [(&[u8], u64); 7] = [
        (b"KiB", 1 << 10),
        (b"MiB", 1 << 20),
        (b"GiB", 1 << 30),
        (b"kB", 1_000),
        (b"MB", 1_000_000),
        (b"GB", 1_000_000_000),
        (b"B", 1),
    ];
    let (number, unit) =
        UNITS.iter().find_map(|(unit, bytes)| Some((value.strip_suffix(*unit)?, *bytes)))?;
    decimal(trim(number))?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::BUDGET;

    fn read(variables: &[&CStr]) -> Settings {
        let settings = Settings::new();
        let mut list: Vec<*const c_char> = variables.iter().map(|text| text.as_ptr()).collect();
        list.push(core::ptr::null());
        // SAFETY: a list of C strings that ends with null; the settings are ours alone.
        unsafe { settings.read(list.as_ptr()) };
        settings
    }

    #[test]
    fn sizes_need_a_unit() {
        assert_eq!(size(b"64MiB"), Some(64 << 20));
        assert_eq!(size(b"10 kB"), Some(10_000));
        for wrong in [&b"64"[..], b"MiB", b"-1MiB", b"18446744073709551615GiB"] {
            assert_eq!(size(wrong), None);
        }
    }

    #[test]
    fn good_values_are_taken() {
        let settings = read(&[
            c"NETRA_TRACE=off",
            c"NETRA_TRACE_BUDGET=1MiB",
            c"NETRA_MODULES=-STDIO",
            c"NETRA_EXCLUDE=/scratch/tmp:/x",
            c"HOME=/home/u",
            c"SLURM_JOB_ID=77",
            c"PMI_RANK=3",
            c"PMI_SIZE=8",
        ]);
        assert!(!settings.traces());
        assert_eq!(settings.budget(), 1 << 20);
        assert!(settings.records(&module::POSIX) && !settings.records(&module::STDIO));
        assert!(settings.excludes(b"/scratch/tmp/a") && !settings.excludes(b"/scratch/a"));
        assert_eq!(settings.data_home(), b"/home/u/.local/share");
        let launch = settings.launch();
        assert_eq!((launch.rank, launch.nprocs, launch.job_id), (Some(3), Some(8), Some(77)));
        assert_eq!(settings.notes(), b"");
    }

    #[test]
    fn netra_off_leaves_it_out() {
        for off in [c"NETRA=off", c"NETRA=0", c"NETRA=no", c"NETRA=false", c"NETRA_DISABLE=1"] {
            assert!(read(&[off]).disabled(), "{off:?}");
        }
        assert!(read(&[c"NETRA=off", c"NETRA_DISABLE=0"]).disabled());
        assert!(read(&[c"NETRA_DISABLE=0", c"NETRA=off"]).disabled());
        for on in [c"NETRA=on", c"NETRA=1", c"NETRA_DISABLE=off", c"NETRA_OFF=1"] {
            assert!(!read(&[on]).disabled(), "{on:?}");
        }
        let unclear = read(&[c"NETRA=perhaps"]);
        assert!(!unclear.disabled());
        assert!(unclear.notes().starts_with(b"setting netra: \"perhaps\" is neither on nor off"));
    }

    #[test]
    fn bad_values_become_defaults_and_notes() {
        let settings =
            read(&[c"NETRA_TRACE_BUDGET=plenty", c"NETRA_TRACE=maybe", c"NETRA_LOG_DIR=x"]);
        assert!(settings.traces());
        assert_eq!(settings.budget(), BUDGET);
        assert_eq!(settings.log_dir(), b"");
        let notes = std::str::from_utf8(settings.notes()).unwrap();
        assert_eq!(notes.lines().count(), 3);
        assert!(notes.starts_with(
            "setting trace_budget: \"plenty\" is not a size from 64KiB to 16GiB; the default is used\n"
        ));
    }

    #[test]
    fn the_environment_stands_over_the_file() {
        let path = std::env::temp_dir().join(std::format!("netra-settings-{}", std::process::id()));
        std::fs::write(
            &path,
            "# mine\nbudget = 1\ntrace = \"off\"\njob = \"file\"\n[serve]\njob = \"no\"\n",
        )
        .unwrap();
        let config =
            std::ffi::CString::new(std::format!("NETRA_CONFIG={}", path.display())).unwrap();
        let settings = read(&[c"NETRA_JOB=mine", &config]);
        std::fs::remove_file(&path).unwrap();
        assert!(!settings.traces());
        assert_eq!(settings.job(), b"mine");
    }
}
