//! The system calls of a command, process by process and in order, without those that netra makes.
//!
//! strace tells where in memory each call was made. Three kinds of calls are netra's, and no others:
//! those made from the text of `libnetra_preload.so`, which has its own system call instruction, but for `vfork`, which
//! nobody can make for somebody else; what the loader does to bring that file in; and the question of `ftello` where a stream
//! stands, the one thing that netra asks libc for: `lseek` by nothing, after which libc need not ask again
//! itself.
//!
//! Left out on both sides is what addresses, the number of libraries and the size of the environment decide:
//! the loader's own memory, how the heap grows, what an arena of glibc gives back to be aligned, how many
//! reads a list of one's own mappings or variables takes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::family::{Family, Id};
use super::pattern::{Pattern, fits, text};
use super::sheet::Sheet;

const LIBRARY: &str = "libnetra_preload.so>";
/// glibc's arenas: as much is reserved, and what is not aligned given back at once, which depends on where it was.
const ARENA: &str = "(NULL, 134217728, PROT_NONE";

/// The words that put strace in front of others; each process has a file of its own in `folder`.
pub(crate) fn strace(folder: &Path) -> Vec<OsString> {
    let words = ["strace", "-ff", "-i", "-y", "-q", "-s", "0", "--decode-pids=pidns", "-o"];
    let words = words.iter().map(OsString::from);
    words.chain([folder.join("calls").into_os_string()]).collect()
}

/// No loader's text is larger.
const LOADER: u64 = 0x3_0000;

/// One line of strace.
#[derive(Debug, Clone, Copy)]
struct Call<'a> {
    at: u64,
    name: &'a str,
    arguments: &'a str,
    result: &'a str,
}

impl<'a> Call<'a> {
    fn parse(line: &'a str) -> Option<Call<'a>> {
        let (at, rest) = line.strip_prefix('[')?.split_once("] ")?;
        let (name, rest) = rest.split_once('(')?;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, "?"));
        let arguments = arguments.trim_end();
        Some(Call { at: u64::from_str_radix(at, 16).ok()?, name, arguments, result })
    }

    /// The number that was returned, for processes the one that we know it by.
    fn value(&self) -> Option<u64> {
        let outside = self.result.split_once("/* ").and_then(|(_, rest)| rest.split(' ').next());
        let number = outside.unwrap_or_else(|| self.result.split(['<', ' ']).next().unwrap_or(""));
        match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
    }

    fn argument(&self, number: usize) -> &'a str {
        self.arguments.split(", ").nth(number).unwrap_or_default()
    }

    fn address(&self) -> Option<u64> {
        u64::from_str_radix(self.argument(0).strip_prefix("0x")?, 16).ok()
    }

    fn size(&self) -> u64 {
        self.argument(1).trim_end_matches(')').parse().unwrap_or(0)
    }

    fn range(&self) -> Range<u64> {
        let start = self.value().unwrap_or(0);
        start..start + self.size()
    }

    /// The process or thread that this call started.
    fn child(&self) -> Option<(Id, bool)> {
        if !["clone", "clone3", "fork", "vfork"].contains(&self.name) {
            return None;
        }
        let child = Id::try_from(self.value()?).ok()?;
        Some((child, self.arguments.contains("CLONE_THREAD")))
    }

    fn is_exec(&self) -> bool {
        self.name.starts_with("execve") && self.result.starts_with('0')
    }
}

/// Where the parts of the library are in a process.
#[derive(Debug, Clone, Default)]
struct Library {
    /// The descriptor that the loader reads it by, while it does.
    loading: Option<String>,
    all: Range<u64>,
    text: Range<u64>,
}

impl Library {
    /// Whether a call is netra's or is made to load it.
    fn owns(&mut self, call: &Call<'_>) -> bool {
        if let Some(descriptor) = &self.loading {
            if call.name == "close" && call.arguments.starts_with(descriptor.as_str()) {
                self.loading = None;
            } else if call.name == "mmap" && self.all.is_empty() {
                self.all = call.range();
            } else if call.name == "mmap" && call.arguments.contains("PROT_EXEC") {
                self.text = call.range();
            }
            return true;
        }
        // musl's loader opens by name.
        let opens = ["open", "openat"].contains(&call.name);
        if opens && call.result.ends_with(LIBRARY) && self.all.is_empty() {
            self.loading = call.result.split('<').next().map(|number| format!("{number}<"));
            return true;
        }
        let inside = call.address().is_some_and(|at| self.all.contains(&at));
        let made = self.text.contains(&call.at) && call.name != "vfork";
        made || (call.name == "mprotect" && inside)
    }
}

/// All that strace wrote about a run.
struct Trace {
    texts: BTreeMap<Id, String>,
    family: Family,
}

impl Trace {
    fn read(folder: &Path) -> Result<Trace> {
        let mut trace = Trace { texts: BTreeMap::new(), family: Family::default() };
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(id) = path.extension().and_then(|end| end.to_str()?.parse().ok()) else {
                continue;
            };
            let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
            trace.texts.insert(id, String::from_utf8_lossy(&bytes).into_owned());
        }
        for (&id, text) in &trace.texts {
            for (child, is_thread) in text.lines().filter_map(|line| Call::parse(line)?.child()) {
                trace.family.started(id, child, is_thread);
            }
        }
        Ok(trace)
    }

    fn calls(&self, id: Id) -> impl Iterator<Item = Call<'_>> {
        self.texts.get(&id).into_iter().flat_map(|text| text.lines().filter_map(Call::parse))
    }

    fn runs(&self, id: Id, program: &str) -> bool {
        let named = |call: Call<'_>| {
            let path = call.argument(0).trim_matches('"');
            call.is_exec() && Path::new(path).ends_with(program)
        };
        self.calls(id).any(named)
    }

    /// The process of the command: the first, or the child of netra that became it.
    fn command(&self, program: &str, below_netra: bool) -> Option<Id> {
        let first = self.texts.keys().copied().find(|&id| !self.family.is_child(id))?;
        if !below_netra {
            return Some(first);
        }
        let names = self.family.names(first);
        let children = names.keys().flat_map(|&id| self.family.processes_of(id));
        let mut found: Vec<_> = children.filter(|&id| self.runs(id, program)).collect();
        found.sort_by_key(|id| names.get(id).map_or(0, String::len));
        found.first().copied()
    }
}

/// The calls of each process and thread from the start of the command on, and how each ended.
pub(crate) fn read(folder: &Path, program: &str, below_netra: bool) -> Result<Sheet> {
    let trace = Trace::read(folder)?;
    let root = trace.command(program, below_netra).context("strace did not see the command")?;
    let names = trace.family.names(root);
    let mut libraries: BTreeMap<Id, Library> = BTreeMap::new();
    let mut sheet = Sheet::new();
    // Parents come before their children, whose memory they give.
    let mut order: Vec<_> = names.iter().collect();
    order.sort_by_key(|(_, name)| (name.len(), (*name).clone()));
    for (&id, name) in order {
        let library = libraries.remove(&id).unwrap_or_default();
        let begins = id == root;
        let lines = own(&trace, id, library, begins, &mut libraries);
        sheet.insert(format!("calls {name}"), lines);
    }
    Ok(sheet)
}

/// The application's own calls of one process or thread.
fn own(
    trace: &Trace,
    id: Id,
    mut library: Library,
    from_exec: bool,
    children: &mut BTreeMap<Id, Library>,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut arenas: Vec<Range<u64>> = Vec::new();
    let (mut begun, mut loading, mut loader) = (!from_exec, false, 0..0);
    let mut interrupted: Option<String> = None;
    for call in trace.calls(id) {
        if let Some((child, _)) = call.child() {
            children.insert(child, library.clone());
        }
        if call.is_exec() {
            library = Library::default();
            (begun, loading) = (true, true);
        }
        if !begun || library.owns(&call) || is_chance(&call) {
            continue;
        }
        if call.name == "mmap" && call.arguments.contains(ARENA.trim_start_matches('(')) {
            arenas.push(call.range());
        }
        if is_of_malloc(&call) {
            arenas.push(call.range());
            continue;
        }
        // A program without a loader opens nothing before it has a thread block.
        loading &= !call.arguments.starts_with("ARCH_SET_FS");
        if loading && call.name == "openat" {
            loader = call.at.saturating_sub(LOADER)..call.at + LOADER;
        }
        if is_of_loader(&call, &loader) {
            continue;
        }
        let in_arena = |at| arenas.iter().any(|arena: &Range<u64>| arena.contains(&at));
        if call.name == "munmap" && call.address().is_some_and(in_arena) {
            continue;
        }
        // A call that a signal interrupted is made again by the kernel; it counts once.
        if call.result.contains("ERESTART") {
            interrupted = Some(plain(&format!("{}({}", call.name, call.arguments)));
            continue;
        }
        let line = match interrupted.take() {
            Some(first) if call.name == "restart_syscall" => {
                format!("{first} = {}", plain(call.result))
            }
            _ if is_of_oneself(&call) || OF_THE_MOMENT.contains(&call.name) => {
                format!("{}(…)", call.name)
            }
            _ => plain(&format!("{}({} = {}", call.name, call.arguments, call.result)),
        };
        // As many reads as it takes are one.
        if !(is_of_oneself(&call) && lines.last() == Some(&line)) {
            lines.push(line);
        }
    }
    lines
}

/// What addresses and chance decide: the growth of the heap, the end of a signal's handler, and that libc
/// sometimes asks for more chance for the name of a temporary file.
fn is_chance(call: &Call<'_>) -> bool {
    let for_a_name = call.name == "getrandom" && call.arguments.ends_with("8, GRND_NONBLOCK)");
    call.name == "brk" || call.name == "rt_sigreturn" || for_a_name
}

/// Whether it takes memory as `malloc` does for a large block: which blocks are large depends on those before, down
/// to the environment's.
fn is_of_malloc(call: &Call<'_>) -> bool {
    call.name == "mmap"
        && call.argument(0) == "NULL"
        && call.arguments.contains("PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1")
}

/// Whether it reads what the kernel tells a process of itself, in which netra is.
fn is_of_oneself(call: &Call<'_>) -> bool {
    let path = call.argument(0).split_once("</proc/").map_or("", |(_, path)| path);
    let file = path.trim_start_matches(|c: char| c != '/').trim_end_matches(['>', ')']);
    call.name.contains("read") && ["/maps", "/smaps", "/environ", "/auxv"].contains(&file)
}

/// A call whose results are the moment's.
const OF_THE_MOMENT: &[&str] = &[
    "clock_gettime",
    "getrusage",
    "gettimeofday",
    "sysinfo",
    "time",
    "times",
    "statfs",
    "fstatfs",
];

/// Whether the loader takes memory for its books.
fn is_of_loader(call: &Call<'_>, loader: &Range<u64>) -> bool {
    let anonymous = call.argument(0) == "NULL" && call.arguments.contains("MAP_ANONYMOUS, -1");
    call.name == "mmap" && anonymous && loader.contains(&call.at)
}

/// A line without what the place in memory and the kernel's counting decide.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("0x") {
            let digits = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
            // A thread's stack is smaller by what libraries keep for each thread.
            let is_place = digits > 5 || text.ends_with("stack_size=");
            text.push_str(if is_place { "@" } else { &rest[..2 + digits] });
            rest = &after[digits..];
        } else if let Some(after) = rest.strip_prefix("l_pid=") {
            // Who asks for a lock leaves this as it was on the stack.
            rest = after.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
        } else if let Some(after) = rest.strip_prefix(":[") {
            text.push_str(":[");
            rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        } else if let Some((_, after)) =
            rest.strip_prefix("/* ").and_then(|after| after.split_once("*/"))
        {
            rest = after;
        } else {
            text.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    text
}

/// Whether it is the question of `ftello`, which moves nothing.
fn asks_where(line: &str) -> bool {
    line.starts_with("lseek(")
        && (line.contains(", 0, SEEK_CUR)") || line.contains(", 0, SEEK_END)"))
}

/// Calls that are made as often as it takes: to wait, and for memory.
const AS_OFTEN: &[&str] = &[
    "clock_nanosleep",
    "epoll_pwait",
    "epoll_wait",
    "futex",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "nanosleep",
    "poll",
    "ppoll",
    "pselect6",
    "sched_yield",
    "select",
    "wait4",
    "waitid",
];

fn name(line: &str) -> &str {
    line.split('(').next().unwrap_or_default()
}

/// The first call that differs: in order where the order is always the same, else by how many there
/// are of a name where that is, and a name that is never there without netra is never there with it.
pub(crate) fn difference(runs: &[&[String]], lines: &[String]) -> Option<String> {
    let pattern = Pattern::learn(runs.iter().copied());
    if pattern.is_ordered() {
        return in_order(pattern.lines(), lines);
    }
    let counts: Vec<_> = runs.iter().map(|run| count(run)).collect();
    let names: BTreeSet<&str> = counts.iter().flat_map(|run| run.keys().copied()).collect();
    let now = count(lines);
    if let Some(new) = now.keys().find(|name| !names.contains(*name)) {
        return Some(format!("{new} is called, without it never"));
    }
    names.into_iter().find_map(|name| {
        let number = |run: &BTreeMap<&str, usize>| run.get(name).copied().unwrap_or(0);
        let first = number(&counts[0]);
        let always = counts.iter().all(|run| number(run) == first);
        let differs = always && !AS_OFTEN.contains(&name) && number(&now) != first;
        differs.then(|| format!("{} calls of {name}, without it {first}", number(&now)))
    })
}

fn in_order(known: &[Vec<Option<String>>], lines: &[String]) -> Option<String> {
    let (mut known, mut lines) = (known.iter().peekable(), lines.iter().peekable());
    let mut number = 0;
    loop {
        match (known.peek(), lines.peek()) {
            (None, None) => return None,
            (Some(parts), Some(line)) if fits(parts, line) => {
                known.next();
                lines.next();
                number += 1;
            }
            (_, Some(line)) if asks_where(line) => drop(lines.next()),
            (Some(parts), _) if asks_where(&text(parts)) => drop(known.next()),
            (want, have) => {
                let want = want.map_or_else(|| "nothing more".to_owned(), |parts| text(parts));
                let have = have.map_or("nothing more", |line| line.as_str());
                return Some(format!("call {number} is `{have}`, without it `{want}`"));
            }
        }
    }
}

fn count(lines: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    let lines = lines.iter().filter(|line| !asks_where(line));
    lines.for_each(|line| *counts.entry(name(line)).or_default() += 1);
    counts
}

/// How little could be compared; none if every call was, in order.
pub(crate) fn left_out(runs: &[&[String]]) -> Option<String> {
    match Pattern::learn(runs.iter().copied()) {
        Pattern::Lines(_) => None,
        _ => Some("another order each time: compared by name and number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_strace_writes_them() {
        let line = "[00007f8eb271cca3] mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</l/a.so>, 0x26000) = 0x7f8eb26f2000";
        let call = Call::parse(line).unwrap();
        assert_eq!((call.at, call.name, call.size()), (0x7f8e_b271_cca3, "mmap", 8192));
        assert_eq!(call.range(), 0x7f8e_b26f_2000..0x7f8e_b26f_4000);
        let call = Call::parse("[00007f0000000001] clone3({flags=CLONE_VM|CLONE_THREAD} => {parent_tid=[7]}, 88) = 2 /* 4711 in strace's PID NS */").unwrap();
        assert_eq!(call.child(), Some((4711, true)));
        assert!(Call::parse("[????????????????] +++ exited with 0 +++").is_none());
    }

    #[test]
    fn addresses_and_numbers_of_the_kernel_are_left_out() {
        let line = "execve(\"/bin/a\", [\"a\"...], 0x7ffc643db398 /* 39 vars */) = 0";
        assert_eq!(plain(line), "execve(\"/bin/a\", [\"a\"...], @ ) = 0");
        assert_eq!(
            plain("read(4<pipe:[123]>, \"\"..., 0x80) = 1"),
            "read(4<pipe:[]>, \"\"..., 0x80) = 1"
        );
    }

    #[test]
    fn what_the_library_does_and_what_loads_it_is_netras() {
        let mut library = Library::default();
        let mut owns = |line: &str| library.owns(&Call::parse(line).unwrap());
        assert!(owns(
            "[00007f0000000010] openat(AT_FDCWD</>, \"/l/libnetra_preload.so\", O_RDONLY|O_CLOEXEC) = 3</l/libnetra_preload.so>"
        ));
        assert!(owns(
            "[00007f0000000010] mmap(NULL, 40960, PROT_READ, MAP_PRIVATE, 3</l/libnetra_preload.so>, 0) = 0x7f0000100000"
        ));
        assert!(owns(
            "[00007f0000000010] mmap(0x7f0000102000, 8192, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3</l/libnetra_preload.so>, 0x2000) = 0x7f0000102000"
        ));
        assert!(owns("[00007f0000000010] close(3</l/libnetra_preload.so>) = 0"));
        assert!(!owns("[00007f0000000010] close(3</l/libc.so>) = 0"));
        assert!(owns("[00007f0000000010] mprotect(0x7f0000108000, 4096, PROT_READ) = 0"));
        assert!(!owns("[00007f0000000010] mprotect(0x7f0000208000, 4096, PROT_READ) = 0"));
        assert!(owns("[00007f0000102004] getpid() = 7"));
        assert!(!owns("[00007f0000104004] getpid() = 7"));
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn an_order_that_is_always_the_same_is_asked_for() {
        let bare = lines("open(\"a\") = 3\nread(3) = 5\nclose(3) = 0");
        let runs = [bare.as_slice(), bare.as_slice()];
        assert_eq!(difference(&runs, &bare), None);
        let more = lines("open(\"a\") = 3\nread(3) = 5\nlseek(3, 0, SEEK_CUR) = 5\nclose(3) = 0");
        assert_eq!(difference(&runs, &more), None, "where a stream stands");
        let other = lines("open(\"a\") = 3\nread(3) = 4\nclose(3) = 0");
        let found = difference(&runs, &other).unwrap();
        assert_eq!(found, "call 1 is `read(3) = 4`, without it `read(3) = 5`");
        let less = lines("open(\"a\") = 3\nread(3) = 5");
        let found = difference(&runs, &less).unwrap();
        assert_eq!(found, "call 2 is `nothing more`, without it `close(3) = 0`");
    }

    #[test]
    fn without_an_order_names_are_counted_where_they_can_be() {
        let (one, two) =
            (lines("open() = 3\nread() = 1"), lines("open() = 3\nread() = 1\nread() = 1"));
        let runs = [one.as_slice(), two.as_slice()];
        assert_eq!(
            difference(&runs, &lines("read() = 1\nread() = 1\nread() = 1\nopen() = 3")),
            None
        );
        let found = difference(&runs, &lines("read() = 1\nopen() = 3\nopen() = 3")).unwrap();
        assert_eq!(found, "2 calls of open, without it 1");
        let found = difference(&runs, &lines("open() = 3\nread() = 1\nwrite() = 1")).unwrap();
        assert_eq!(found, "write is called, without it never");
    }
}
