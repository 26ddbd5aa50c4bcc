//! Settings: `NETRA_*` in the environment, over one optional file of `key = value` lines
//! (`NETRA_CONFIG`). Read once, before the first call is recorded, and copied: an application may
//! reuse the memory of its environment. A bad value becomes the default and a note.

mod read;

pub(crate) use read::variables;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::module::Module;
use crate::text::Text;

/// The longest path of our own: segments, logs, the file of settings.
pub const LONGEST_PATH: usize = 512;
/// Bytes of chunks that may be taken when nobody reads.
const BUDGET: u64 = 8 << 20;
/// Bytes of all ranks' events that go into the log that they write together.
const LOG_TRACES: u64 = 64 << 20;
/// How long a rank that ends MPI waits for the others.
const PATIENCE: u64 = 60_000_000_000;

/// What the user wants.
pub struct Settings {
    disabled: AtomicU32,
    untraced: AtomicU32,
    budget: AtomicU64,
    lossless: AtomicU64,
    log_traces: AtomicU64,
    patience: AtomicU64,
    streamed: AtomicU32,
    modules_off: AtomicU32,
    debug: AtomicU32,
    filters: AtomicU64,
    preloaded: AtomicU32,
    texts: UnsafeCell<Texts>,
}

/// Settings that are texts.
struct Texts {
    log_dir: Text<LONGEST_PATH>,
    log_dir_later: Text<LONGEST_PATH>,
    log_file: Text<LONGEST_PATH>,
    roll: Text<LONGEST_PATH>,
    only: Text<1024>,
    except: Text<1024>,
    segment_dir: Text<LONGEST_PATH>,
    job: Text<128>,
    exclude: Text<1024>,
    include: Text<1024>,
    /// `XDG_DATA_HOME`, or made from `HOME`.
    data_home: Text<LONGEST_PATH>,
    /// `TMPDIR`.
    temporary: Text<LONGEST_PATH>,
    user: Text<64>,
    /// PMIx's name of the job.
    namespace: Text<128>,
    /// A file of the site's that describes the platform.
    platform: Text<LONGEST_PATH>,
    /// What the scheduler says of the allocation, lines `key=value`.
    allocation: Text<2048>,
    launch: Launch,
    notes: Text<1024>,
}

/// What schedulers and launchers say.
#[derive(Default, Clone, Copy)]
pub struct Launch {
    /// Rank in the job.
    pub rank: Option<u32>,
    /// Processes of the job.
    pub nprocs: Option<u32>,
    /// Number of the job.
    pub job_id: Option<u64>,
    /// Name of the scheduler.
    pub scheduler: &'static str,
    /// Number of the step.
    pub step: u64,
    /// Whether a launcher that speaks PMI told the rank.
    pub is_by_pmi: bool,
}

// SAFETY: `texts` is written by `read`, which runs once, before other threads can come here
// (`life`), and only read afterwards.
unsafe impl Sync for Settings {}

/// This process's settings; they stay over fork.
pub static SETTINGS: Settings = Settings::new();

impl Settings {
    /// What holds before anything is read.
    const fn new() -> Settings {
        Settings {
            disabled: AtomicU32::new(0),
            untraced: AtomicU32::new(0),
            budget: AtomicU64::new(BUDGET),
            lossless: AtomicU64::new(0),
            log_traces: AtomicU64::new(LOG_TRACES),
            patience: AtomicU64::new(PATIENCE),
            streamed: AtomicU32::new(0),
            modules_off: AtomicU32::new(0),
            debug: AtomicU32::new(0),
            filters: AtomicU64::new(0),
            preloaded: AtomicU32::new(0),
            texts: UnsafeCell::new(Texts {
                log_dir: Text::new(),
                log_dir_later: Text::new(),
                log_file: Text::new(),
                roll: Text::new(),
                only: Text::new(),
                except: Text::new(),
                segment_dir: Text::new(),
                job: Text::new(),
                exclude: Text::new(),
                include: Text::new(),
                data_home: Text::new(),
                temporary: Text::new(),
                user: Text::new(),
                namespace: Text::new(),
                platform: Text::new(),
                allocation: Text::new(),
                launch: Launch {
                    rank: None,
                    nprocs: None,
                    job_id: None,
                    scheduler: "",
                    step: 0,
                    is_by_pmi: false,
                },
                notes: Text::new(),
            }),
        }
    }

    fn texts(&self) -> &Texts {
        // SAFETY: as for `Sync` above.
        unsafe { &*self.texts.get() }
    }

    /// Whether netra is to stay out of this process.
    #[must_use]
    pub fn disabled(&self) -> bool {
        self.disabled.load(Ordering::Relaxed) != 0
    }

    /// Keeps netra out of this process from now on.
    pub fn disable(&self) {
        self.disabled.store(1, Ordering::Relaxed);
    }

    /// Whether events are written.
    #[inline(always)]
    #[must_use]
    pub fn traces(&self) -> bool {
        self.untraced.load(Ordering::Relaxed) == 0
    }

    /// Bytes of chunks that may be taken when nobody reads.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget.load(Ordering::Relaxed)
    }

    /// Bytes of chunks that may be taken while somebody reads: the budget, or more where no event
    /// is to be lost because the reader is slow.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.budget().max(self.lossless.load(Ordering::Relaxed))
    }

    /// Bytes of all ranks' events that go into the log that they write together; more stay in the segments.
    #[must_use]
    pub fn log_traces(&self) -> u64 {
        self.log_traces.load(Ordering::Relaxed)
    }

    /// How long a rank that ends MPI waits for the others, in nanoseconds.
    #[must_use]
    pub fn patience(&self) -> u64 {
        self.patience.load(Ordering::Relaxed)
    }

    /// Whether a daemon reads the segment and removes it when it has everything.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.streamed.load(Ordering::Relaxed) != 0
    }

    /// Whether a module is on.
    #[must_use]
    pub fn records(&self, module: &Module) -> bool {
        self.modules_off.load(Ordering::Relaxed) & 1_u32.wrapping_shl(module.index as u32) == 0
    }

    /// The site's file that describes the platform; empty if there is none.
    #[must_use]
    pub fn platform(&self) -> &[u8] {
        self.texts().platform.bytes()
    }

    /// What the scheduler says of the allocation, lines `key=value`.
    #[must_use]
    pub fn allocation(&self) -> &[u8] {
        self.texts().allocation.bytes()
    }

    /// Whether a line is written to descriptor 2 at start and at exit.
    #[must_use]
    pub fn debugs(&self) -> bool {
        self.debug.load(Ordering::Relaxed) != 0
    }

    /// How many seccomp filters there are of which it is known that netra can work under them.
    #[must_use]
    pub fn filters(&self) -> u64 {
        self.filters.load(Ordering::Relaxed)
    }

    /// Whether the user excludes or includes any paths.
    #[must_use]
    pub fn chooses_paths(&self) -> bool {
        !self.texts().exclude.bytes().is_empty() || !self.texts().include.bytes().is_empty()
    }

    /// Whether a path is excluded by the user.
    #[must_use]
    pub fn excludes(&self, path: &[u8]) -> bool {
        lists(self.texts().exclude.bytes(), path)
    }

    /// Whether a path is included by the user, whatever excludes it.
    #[must_use]
    pub fn includes(&self, path: &[u8]) -> bool {
        lists(self.texts().include.bytes(), path)
    }

    /// The job's key, if it was given.
    #[must_use]
    pub fn job(&self) -> &[u8] {
        self.texts().job.bytes()
    }

    /// What schedulers and launchers say.
    #[must_use]
    pub fn launch(&self) -> Launch {
        self.texts().launch
    }

    /// The log's exact path, if it was given.
    #[must_use]
    pub fn log_file(&self) -> &[u8] {
        self.texts().log_file.bytes()
    }

    /// Whether `LD_PRELOAD` is what put us here.
    #[must_use]
    pub fn is_preloaded(&self) -> bool {
        self.preloaded.load(Ordering::Relaxed) != 0
    }

    /// The directory of the job's roll, if one is called.
    #[must_use]
    pub fn roll(&self) -> &[u8] {
        self.texts().roll.bytes()
    }

    /// Patterns of the programs that alone are recorded, which colons separate.
    #[must_use]
    pub fn only(&self) -> &[u8] {
        self.texts().only.bytes()
    }

    /// Patterns of programs that are not.
    #[must_use]
    pub fn except(&self) -> &[u8] {
        self.texts().except.bytes()
    }

    /// The directory of logs, if it was given.
    #[must_use]
    pub fn log_dir(&self) -> &[u8] {
        self.texts().log_dir.bytes()
    }

    /// The directory of logs once the other one is gone: of a process that outlives `netra run`.
    #[must_use]
    pub fn log_dir_later(&self) -> &[u8] {
        self.texts().log_dir_later.bytes()
    }

    /// Where the user's data lies; empty if nothing says so.
    #[must_use]
    pub fn data_home(&self) -> &[u8] {
        self.texts().data_home.bytes()
    }

    /// PMIx's name of the job; empty if it has none.
    #[must_use]
    pub fn namespace(&self) -> &[u8] {
        self.texts().namespace.bytes()
    }

    /// The user's name; empty if nothing says so.
    #[must_use]
    pub fn user(&self) -> &[u8] {
        self.texts().user.bytes()
    }

    /// Directories in which the directory of segments may lie, the one that is wanted first: on another host, or in
    /// a container, it may not be there.
    pub fn segment_dirs(&self) -> impl Iterator<Item = &[u8]> {
        let texts = self.texts();
        let places = [texts.segment_dir.bytes(), texts.temporary.bytes(), b"/tmp"];
        places.into_iter().filter(|place| !place.is_empty())
    }

    /// The first of them.
    #[must_use]
    pub fn segment_dir(&self) -> &[u8] {
        self.segment_dirs().next().unwrap_or(b"/tmp")
    }

    /// Complaints about settings, lines of text.
    #[must_use]
    pub fn notes(&self) -> &[u8] {
        self.texts().notes.bytes()
    }
}

/// Whether one of the prefixes, which colons separate, begins a path.
fn lists(prefixes: &[u8], path: &[u8]) -> bool {
    let mut prefixes = prefixes.split(|&byte| byte == b':').filter(|prefix| !prefix.is_empty());
    prefixes.any(|prefix| path.starts_with(prefix))
}
