//! Settings: every variable `NETRA_*` that the library or the program reads. The library's reader, `netra
//! settings`, `netra doctor`, `netra run` and `docs/reference/settings.md` all take them from here.

/// What a setting's value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Number,
    /// An absolute path.
    Path,
    /// A number of bytes with its unit.
    Size,
    /// On or off.
    Switch,
    /// Any text.
    Text,
    /// A time with its unit.
    Time,
}

/// Who reads a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The library, inside the application. In a file, these are the keys before the first table.
    Library,
    /// The program.
    Program,
    /// netra's package for Python.
    Python,
    /// The scripts for sites in `contrib/`.
    Site,
}

macro_rules! settings {
    ($($name:ident = $variable:literal, $reader:ident, $value:ident, $default:literal, $page:literal, $says:literal;)*) => {
        /// One setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Setting { $(#[doc = $says] $name),* }

        impl Setting {
            /// Every setting: the library's, then the others', each by name.
            pub const ALL: &[Setting] = &[$(Setting::$name),*];

            /// The variable's name.
            #[must_use]
            pub const fn variable(self) -> &'static str {
                match self { $(Setting::$name => $variable),* }
            }

            /// The setting that this variable is. A chain of comparisons, because a table of names would cost the
            /// loader of an application's process a relocation for each.
            #[must_use]
            pub fn of_variable(name: &[u8]) -> Option<Setting> {
                $(if name == $variable.as_bytes() {
                    return Some(Setting::$name);
                })*
                None
            }

            /// The setting with this key, as a file has it: small or large, without `NETRA_`.
            #[must_use]
            pub fn of_key(key: &[u8]) -> Option<Setting> {
                $(if is_key($variable.as_bytes(), key) {
                    return Some(Setting::$name);
                })*
                None
            }

            /// Who reads it.
            #[must_use]
            pub const fn reader(self) -> Reader {
                match self { $(Setting::$name => Reader::$reader),* }
            }

            /// What its value must be.
            #[must_use]
            pub const fn value(self) -> Value {
                match self { $(Setting::$name => Value::$value),* }
            }

            /// What holds where nothing is set.
            #[must_use]
            pub const fn default(self) -> &'static str {
                match self { $(Setting::$name => $default),* }
            }

            /// The page that says more, below `docs`.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self { $(Setting::$name => $page),* }
            }

            /// What it is for, in a sentence without its full stop.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self { $(Setting::$name => $says),* }
            }
        }
    };
}

settings! {
    Netra = "NETRA", Library, Switch, "on", "use/record.md",
        "off leaves netra out of every process that has this in its environment, whatever else is set";
    Config = "NETRA_CONFIG", Library, Path, "", "reference/settings.md",
        "a file of settings, read by the library too";
    Debug = "NETRA_DEBUG", Library, Switch, "off", "use/record.md",
        "the library writes a line on standard error when a process begins and when it ends";
    Disable = "NETRA_DISABLE", Library, Switch, "off", "use/record.md",
        "the older spelling of NETRA=off";
    Except = "NETRA_EXCEPT", Library, Text, "", "use/record.md",
        "programs that are not recorded, by name or path; * and ? stand for other letters, colons between patterns";
    Exclude = "NETRA_EXCLUDE", Library, Text, "", "use/record.md",
        "files whose path begins with one of these are left out; colons between them";
    Filters = "NETRA_FILTERS", Library, Number, "0", "use/record.md",
        "how many filters of system calls a process has that harm no recording; set by netra run itself";
    FinalizeWait = "NETRA_FINALIZE_WAIT", Library, Time, "60s", "use/mpi.md",
        "how long a rank that ends MPI waits for the others; 0s: each writes a log of its own";
    Include = "NETRA_INCLUDE", Library, Text, "", "use/record.md",
        "files whose path begins with one of these are recorded, whatever leaves them out";
    Job = "NETRA_JOB", Library, Text, "from the scheduler", "use/record.md",
        "the key of the job that a process belongs to";
    LogDir = "NETRA_LOG_DIR", Library, Path, "$XDG_DATA_HOME/netra/logs", "use/record.md",
        "the folder below which logs are written, by year, month and day";
    LogDirLater = "NETRA_LOG_DIR_LATER", Library, Path, "", "use/record.md",
        "where the log of a process goes that outlives netra run; set by netra run itself";
    LogFile = "NETRA_LOG_FILE", Library, Path, "", "use/record.md",
        "the log's exact name, instead of a folder";
    LogTraces = "NETRA_LOG_TRACES", Library, Size, "64MiB", "use/mpi.md",
        "what all ranks' traces may take in the log that they write together";
    Lossless = "NETRA_LOSSLESS", Library, Size, "", "use/live.md",
        "what a trace may take while a daemon reads it, instead of dropping events: 64KiB to 16GiB";
    Modules = "NETRA_MODULES", Library, Text, "all", "use/record.md",
        "the modules that record (POSIX,STDIO), or those that do not (-STDIO)";
    Only = "NETRA_ONLY", Library, Text, "", "use/record.md",
        "the programs that are recorded, by name or path, and no others";
    Platform = "NETRA_PLATFORM", Library, Path, "", "use/site.md",
        "the site's file that describes the machine";
    Roll = "NETRA_ROLL", Library, Path, "", "format/roll.md",
        "the folder in which processes say that they are there; set by netra run itself";
    SegmentDir = "NETRA_SEGMENT_DIR", Library, Path, "$TMPDIR, else /tmp", "use/site.md",
        "where the folder lies in which processes keep what they record until it is in a log";
    Stream = "NETRA_STREAM", Library, Switch, "off", "use/daemon.md",
        "a daemon reads what is recorded and removes it when it has everything";
    Trace = "NETRA_TRACE", Library, Switch, "on", "use/record.md",
        "off counts, but traces no call";
    TraceBudget = "NETRA_TRACE_BUDGET", Library, Size, "8MiB", "use/record.md",
        "what a process's trace may take when nobody reads it: 64KiB to 16GiB (netra run gives 64MiB)";
    Analysis = "NETRA_ANALYSIS", Program, Text, "", "use/analysis.md",
        "directories with analysis modules, colons between them, before the usual ones";
    Daemon = "NETRA_DAEMON", Program, Text, "the daemon of this machine", "use/daemon.md",
        "the daemon that is asked: tcp:HOST:PORT or unix:PATH";
    Preload = "NETRA_PRELOAD", Program, Path, "beside the program", "install.md",
        "where libnetra_preload.so is";
    Python = "NETRA_PYTHON", Program, Text, "python3", "use/analysis.md",
        "the interpreter that runs analysis modules";
    Store = "NETRA_STORE", Program, Text, "$XDG_DATA_HOME/netra/store", "use/store.md",
        "the store: a directory or the URL of a bucket";
    Program = "NETRA_PROGRAM", Python, Text, "netra", "use/python.md",
        "the program that Python calls";
    Token = "NETRA_TOKEN", Python, Text, "", "use/python.md",
        "the token with which Python asks a server";
    Logs = "NETRA_LOGS", Site, Path, "/var/lib/netra/logs", "use/site.md",
        "where Slurm's epilog puts logs, a folder for each user";
    Patience = "NETRA_PATIENCE", Site, Text, "30", "use/site.md",
        "how many seconds Slurm's epilog waits for the node's daemon";
    Root = "NETRA_ROOT", Site, Path, "/usr", "use/site.md",
        "where the module for Lmod finds netra";
}

/// Whether a variable is what a file calls so: small or large, without `NETRA_`.
fn is_key(variable: &[u8], key: &[u8]) -> bool {
    variable.strip_prefix(b"NETRA_").unwrap_or(variable).eq_ignore_ascii_case(key)
}

/// What a switch's value says; nothing if it is neither on nor off.
#[must_use]
pub const fn switch(value: &[u8]) -> Option<bool> {
    match value {
        b"1" | b"on" | b"true" | b"yes" => Some(true),
        b"0" | b"off" | b"false" | b"no" | b"" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_found_by_its_variable_and_by_its_key() {
        for setting in Setting::ALL.iter().copied() {
            assert_eq!(Setting::of_variable(setting.variable().as_bytes()), Some(setting));
            let name = setting.variable();
            let key = name.strip_prefix("NETRA_").unwrap_or(name);
            assert_eq!(Setting::of_key(key.as_bytes()), Some(setting));
        }
        assert_eq!(Setting::of_key(b"log_dir"), Some(Setting::LogDir));
        assert_eq!(Setting::of_key(b"netra"), Some(Setting::Netra));
        assert_eq!(Setting::of_variable(b"NETRA_EXLUDE"), None);
        assert_eq!(Setting::of_variable(b"NETRA_log_dir"), None);
    }

    #[test]
    fn a_switch_is_on_or_off_in_eight_words() {
        assert_eq!([&b"on"[..], b"yes", b"1", b"true"].map(switch), [Some(true); 4]);
        assert_eq!([&b"off"[..], b"no", b"0", b"false", b""].map(switch), [Some(false); 5]);
        assert_eq!(switch(b"perhaps"), None);
    }
}
