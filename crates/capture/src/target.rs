//! The program that is about to be started: whether it will be recorded, and whether it can start with us at all.
//! What `netra doctor` says of a command from its whole file is asked here of its first bytes, before every exec.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;

use netra_event::roll::Absence;

use crate::arch::MACHINE;
use crate::life;
use crate::real;
use crate::settings::{LONGEST_PATH, SETTINGS, variables};
use crate::sys::{self, Descriptor, Refused};
use crate::text::Text;

/// The variable that lists libraries.
pub const PRELOAD: &[u8] = b"LD_PRELOAD=";
/// Bytes of a program that are looked at: its heads, its interpreter's name and its notes lie there as a rule.
const FRONT: usize = 2048;
/// Interpreters that lead to interpreters: more are a mistake.
const DEEPEST: u32 = 4;
/// Variables of an environment that can be given with another `LD_PRELOAD`; with more it is left as it is.
const VARIABLES: usize = 510;

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
const PT_NOTE: u64 = 4;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// What is known of a program.
pub struct Program {
    /// Its path, or that of a script's interpreter.
    pub path: Text<LONGEST_PATH>,
    /// Why it will not be recorded.
    pub absence: Option<Absence>,
    /// A library that insists on being the first, if it has one.
    first: Text<64>,
}

/// How a call names a program.
#[derive(Clone, Copy)]
pub struct Named {
    /// What a relative path is relative to.
    pub directory: c_int,
    /// The path, or only the name.
    pub path: *const c_char,
    /// Whether a name without a slash is looked for where `PATH` says.
    pub search: bool,
    /// The environment that it is given.
    pub environment: *const *const c_char,
}

impl Program {
    /// Looks at a program; nothing if it cannot be read, as one that is not there.
    ///
    /// # Safety
    /// The call was given a path and an environment as C has them; nothing is written.
    pub unsafe fn find(named: Named) -> Option<Program> {
        // SAFETY: the caller vouches.
        let given = unsafe { text(named.path) }?;
        let mut found = Program { path: Text::new(), absence: None, first: Text::new() };
        if named.search && !given.contains(&b'/') {
            let opened = search(given, &mut found.path)?;
            found.look(&opened, 0);
        } else {
            found.path.push(given);
            let name = found.path.path()?;
            // An empty name means the descriptor itself, as for fexecve.
            let opened = if given.is_empty() && named.directory >= 0 {
                let mut own = Text::<40>::new();
                own.push(b"/proc/self/fd/").number(u64::from(named.directory.unsigned_abs()));
                sys::open(own.path()?, libc::O_RDONLY, 0)
            } else {
                sys::open_in(named.directory, name, libc::O_RDONLY | libc::O_NONBLOCK, 0)
            };
            found.look(&opened.ok()?, 0);
        }
        if found.absence.is_none() {
            // SAFETY: the caller vouches.
            found.absence = unsafe { cleared(named.environment) };
        }
        if found.absence.is_none() && is_out_of_reach() {
            found.absence = Some(Absence::Unreadable);
        }
        Some(found)
    }

    fn look(&mut self, file: &Descriptor, depth: u32) {
        let mut front = [0_u8; FRONT];
        let Ok(length) = file.read_at(&mut front, 0) else { return };
        let front = front.get(..length).unwrap_or_default();
        if let Some(line) = front.strip_prefix(b"#!") {
            return self.follow(line, depth);
        }
        if file.identity().is_ok_and(|about| self.has_other_rights(about.mode, about.uid)) {
            self.absence = Some(Absence::Rights);
            return;
        }
        let Some(heads) = Heads::of(front) else { return };
        self.absence = heads.absence(file);
        if self.absence.is_none() {
            // It starts with us behind that library: `Environment`.
            heads.find_sanitizer(file, &mut self.first);
        }
    }

    /// The program that a script's first line names.
    fn follow(&mut self, line: &[u8], depth: u32) {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mut words = line.split(|byte| byte.is_ascii_whitespace());
        let Some(word) = words.find(|word| !word.is_empty()) else { return };
        self.path.truncate(0);
        self.path.push(word);
        let Some(name) = self.path.path() else { return };
        if depth < DEEPEST
            && let Ok(file) = sys::open(name, libc::O_RDONLY | libc::O_NONBLOCK, 0)
        {
            self.look(&file, depth.wrapping_add(1));
        }
    }

    /// Whether the loader will distrust the environment. A program of our own user changes nothing.
    fn has_other_rights(&mut self, mode: u32, uid: u32) -> bool {
        let other_user = mode & libc::S_ISUID != 0 && uid != sys::ask(libc::SYS_getuid);
        // Not asked for the group's number: who it belongs to seldom matters, that it is set does.
        let other_group = mode & libc::S_ISGID != 0 && mode & libc::S_IXGRP != 0;
        other_user || other_group || self.has_capabilities()
    }

    fn has_capabilities(&mut self) -> bool {
        // Whoever is root has them all, and gains nothing.
        sys::ask(libc::SYS_getuid) != 0
            && self.path.path().is_some_and(|path| sys::has_attribute(path, c"security.capability"))
    }

    /// Whether the loader would end it, or complain, if we were in its list.
    fn starts_without_us(&self) -> bool {
        matches!(self.absence, Some(Absence::OtherLibc | Absence::Unreadable))
    }

    /// Whether it starts only with another library before us, or without us.
    #[must_use]
    pub fn needs_other_environment(&self) -> bool {
        self.starts_without_us() || !self.first.bytes().is_empty()
    }
}

/// Whether our own file cannot be read any more, by another user or under another root: the loader would complain
/// on the program's standard error.
fn is_out_of_reach() -> bool {
    let name = real::own_name();
    let mut own = Text::<LONGEST_PATH>::new();
    own.push(name);
    // Both as who it is and as what it goes on as: rights beyond the user's end with the exec. (That nothing may be
    // asked, in a sandbox, is no answer.)
    let refused = |own: &CStr| {
        let answers = [sys::open(own, libc::O_RDONLY, 0).map(drop), sys::may_read(own)];
        answers.iter().any(|answer| matches!(answer, Err(Refused(libc::EACCES | libc::ENOENT))))
    };
    !name.is_empty() && own.path().is_some_and(refused)
}

/// Looks for a name where `PATH` says.
fn search(name: &[u8], into: &mut Text<LONGEST_PATH>) -> Option<Descriptor> {
    // SAFETY: the list is the process's; who changes it while another thread execs has lost anyway.
    let variables = unsafe { variables(life::environment()) };
    let path = variables.filter_map(|variable| variable.strip_prefix(b"PATH=")).next();
    for folder in path.unwrap_or(b"/bin:/usr/bin").split(|&byte| byte == b':') {
        into.truncate(0);
        into.push(if folder.is_empty() { b"." } else { folder }).push(b"/").push(name);
        let Some(place) = into.path() else { continue };
        if let Ok(file) = sys::open(place, libc::O_RDONLY | libc::O_NONBLOCK, 0)
            && file.identity().is_ok_and(|about| {
                about.mode & libc::S_IFMT == libc::S_IFREG && about.mode & 0o111 != 0
            })
        {
            return Some(file);
        }
    }
    None
}

/// # Safety
/// The path is null or a C string.
unsafe fn text<'a>(path: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller vouches.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// Whether an environment leaves us out, as ours did not, or our log where nobody of this job looks for it.
///
/// # Safety
/// It is null or a list of C strings that ends with null.
unsafe fn cleared(environment: *const *const c_char) -> Option<Absence> {
    let own = real::own_name();
    let (mut preloaded, mut called) = (false, false);
    // SAFETY: the caller vouches.
    for variable in unsafe { variables(environment) } {
        if let Some(list) = variable.strip_prefix(PRELOAD) {
            preloaded = list.split(|byte| b": \t\n".contains(byte)).any(|entry| entry == own);
        }
        called |= variable.starts_with(b"NETRA_LOG_DIR=");
    }
    let complete =
        (preloaded || !SETTINGS.is_preloaded()) && (called || SETTINGS.roll().is_empty());
    (!complete).then_some(Absence::Cleared)
}

/// The heads of an ELF file.
struct Heads<'a> {
    front: &'a [u8],
    machine: u64,
    table: u64,
    count: u64,
}

/// One of them.
struct Head {
    kind: u64,
    offset: u64,
    address: u64,
    bytes: u64,
}

/// A little-endian number of some bytes; 0 behind the end.
fn number(bytes: &[u8], at: u64, length: usize) -> u64 {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let part = at.checked_add(length).and_then(|end| bytes.get(at..end)).unwrap_or_default();
    part.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

impl<'a> Heads<'a> {
    fn of(front: &'a [u8]) -> Option<Heads<'a>> {
        const WIDE: u8 = 2;
        if !front.starts_with(b"\x7fELF") {
            return None;
        }
        let machine = number(front, 18, 2);
        if front.get(4) != Some(&WIDE) {
            // 32 bits: whatever it is, it is not ours.
            return Some(Heads { front, machine: u64::MAX, table: 0, count: 0 });
        }
        Some(Heads { front, machine, table: number(front, 32, 8), count: number(front, 56, 2) })
    }

    fn all(&self) -> impl Iterator<Item = Head> {
        (0..self.count.min(32)).map(|index| {
            let at = self.table.wrapping_add(index.wrapping_mul(56));
            Head {
                kind: number(self.front, at, 4),
                offset: number(self.front, at.wrapping_add(8), 8),
                address: number(self.front, at.wrapping_add(16), 8),
                bytes: number(self.front, at.wrapping_add(32), 8),
            }
        })
    }

    /// Why the program is not recorded, or not all it does.
    fn absence(&self, file: &Descriptor) -> Option<Absence> {
        if self.machine != u64::from(MACHINE) {
            return Some(Absence::Machine);
        }
        let mut buffer = [0_u8; 128];
        let Some(interpreter) = self.all().find(|head| head.kind == PT_INTERP) else {
            return Some(Absence::Static);
        };
        let name = self.read(file, &interpreter, &mut buffer);
        if name.windows(7).any(|part| part == b"ld-musl") {
            return Some(Absence::OtherLibc);
        }
        // A note of an owner called Go: where its linker keeps the id of the build.
        let is_go = |head: Head| {
            let mut buffer = [0_u8; 16];
            head.kind == PT_NOTE
                && self.read(file, &head, &mut buffer).get(12..16) == Some(b"Go\0\0")
        };
        self.all().any(is_go).then_some(Absence::Go)
    }

    fn read<'b>(&self, file: &Descriptor, head: &Head, into: &'b mut [u8]) -> &'b [u8] {
        let most = usize::try_from(head.bytes).unwrap_or(usize::MAX).min(into.len());
        let length = into.get_mut(..most).and_then(|into| file.read_at(into, head.offset).ok());
        into.get(..length.unwrap_or(0)).unwrap_or_default()
    }

    /// The name of the runtime of the address sanitizer, which insists on being first, if the program needs it.
    fn find_sanitizer(&self, file: &Descriptor, into: &mut Text<64>) {
        let mut table = [0_u8; 1024];
        let Some(dynamic) = self.all().find(|head| head.kind == PT_DYNAMIC) else { return };
        let rows = self.read(file, &dynamic, &mut table);
        let (rows, _) = rows.as_chunks::<16>();
        let tag = |row: &[u8; 16]| (number(row, 0, 8), number(row, 8, 8));
        let strings = rows.iter().map(tag).find(|row| row.0 == DT_STRTAB).map(|row| row.1);
        let Some(strings) = strings.and_then(|address| self.offset(address)) else { return };
        for (_, name) in rows.iter().map(tag).filter(|row| row.0 == DT_NEEDED) {
            let mut buffer = [0_u8; 48];
            let length = file.read_at(&mut buffer, strings.wrapping_add(name)).unwrap_or(0);
            let name = buffer.get(..length).unwrap_or_default();
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            if name.starts_with(b"libasan.so") || name.starts_with(b"libclang_rt.asan") {
                into.push(name);
                return;
            }
        }
    }

    /// Where an address of the program lies in its file.
    fn offset(&self, address: u64) -> Option<u64> {
        let holds = |head: &Head| {
            head.kind == PT_LOAD
                && (head.address..head.address.saturating_add(head.bytes)).contains(&address)
        };
        let head = self.all().find(holds)?;
        Some(address.wrapping_sub(head.address).wrapping_add(head.offset))
    }
}

/// An environment with another `LD_PRELOAD`, on the caller's stack: no memory is taken for it.
pub struct Environment {
    list: [*const c_char; VARIABLES],
    preload: Text<1024>,
}

impl Environment {
    /// None yet.
    pub(crate) const fn new() -> Environment {
        Environment { list: [ptr::null(); VARIABLES], preload: Text::new() }
    }

    /// The environment that a program is to be given: the same, except where it would not start with that.
    ///
    /// # Safety
    /// `given` is null or a list of C strings that ends with null.
    pub unsafe fn of(
        &mut self,
        program: Option<&Program>,
        given: *const *const c_char,
    ) -> *const *const c_char {
        let Some(program) = program.filter(|program| program.needs_other_environment()) else {
            return given;
        };
        // SAFETY: the caller vouches.
        unsafe { self.without_us_in_front(program, given) }.unwrap_or(given)
    }

    /// # Safety
    /// As for [`Environment::of`].
    unsafe fn without_us_in_front(
        &mut self,
        program: &Program,
        given: *const *const c_char,
    ) -> Option<*const *const c_char> {
        let own = real::own_name();
        let mut place = self.list.iter_mut();
        let mut changed = false;
        // SAFETY: the caller vouches.
        for variable in unsafe { variables(given) } {
            let mut entry = variable.as_ptr().cast::<c_char>();
            if let Some(list) = variable.strip_prefix(PRELOAD) {
                let entries =
                    || list.split(|byte| b": \t\n".contains(byte)).filter(|e| !e.is_empty());
                let first = program.first.bytes();
                if !entries().any(|entry| entry == own)
                    || entries().next().is_some_and(|e| e == first)
                {
                    continue_with(&mut place, entry)?;
                    continue;
                }
                changed = true;
                self.preload.push(PRELOAD).push(first);
                if !first.is_empty() {
                    self.preload.push(b":");
                }
                let without_us = program.starts_without_us();
                for one in entries().filter(|one| !(without_us && *one == own)) {
                    if self.preload.bytes() != PRELOAD {
                        self.preload.push(b":");
                    }
                    self.preload.push(one);
                }
                if self.preload.bytes() == PRELOAD {
                    continue;
                }
                self.preload.path()?;
                entry = self.preload.bytes().as_ptr().cast();
            }
            continue_with(&mut place, entry)?;
        }
        // The last place holds the null that ends the list.
        place.next()?;
        changed.then_some(self.list.as_ptr())
    }
}

/// The library that netra put first into a list for a program that insists on it: an empty entry behind it says so,
/// which the loader passes over.
pub fn put_first(list: &[u8]) -> Option<&[u8]> {
    let at = list.iter().position(|&byte| byte == b':')?;
    let (first, rest) = list.split_at(at);
    rest.starts_with(b"::").then_some(first)
}

/// Puts a variable into the next place.
fn continue_with<'a>(
    place: &mut impl Iterator<Item = &'a mut *const c_char>,
    entry: *const c_char,
) -> Option<()> {
    *place.next()? = entry;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(path: &str) -> Program {
        let path = std::ffi::CString::new(path).unwrap();
        let named = Named {
            directory: libc::AT_FDCWD,
            path: path.as_ptr(),
            search: true,
            environment: ptr::null(),
        };
        // SAFETY: a C string, and no environment.
        unsafe { Program::find(named) }.unwrap()
    }

    #[test]
    fn a_program_of_this_system_is_recorded() {
        let own = std::env::current_exe().unwrap();
        let found = look(own.to_str().unwrap());
        assert_eq!(found.absence, None);
        assert!(!found.needs_other_environment());
        assert_eq!(look("env").path.bytes().rsplit(|&b| b == b'/').next(), Some(&b"env"[..]));
    }

    #[test]
    fn a_script_is_judged_by_its_interpreter() {
        let path = std::env::temp_dir().join(std::format!("netra-target-{}", std::process::id()));
        std::fs::write(&path, "#! /bin/sh -e\n").unwrap();
        let found = look(path.to_str().unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!((found.path.bytes(), found.absence), (&b"/bin/sh"[..], None));
    }

    #[test]
    fn heads_say_who_can_be_recorded() {
        let elf = |machine: u16, class: u8| {
            let mut bytes = std::vec![0_u8; 64];
            bytes[..5].copy_from_slice(&[0x7f, b'E', b'L', b'F', class]);
            bytes[18..20].copy_from_slice(&machine.to_le_bytes());
            bytes
        };
        let path = std::env::temp_dir().join(std::format!("netra-elf-{}", std::process::id()));
        for (machine, class, want) in [
            (MACHINE, 2, Some(Absence::Static)),
            (MACHINE, 1, Some(Absence::Machine)),
            (MACHINE.wrapping_add(1), 2, Some(Absence::Machine)),
        ] {
            std::fs::write(&path, elf(machine, class)).unwrap();
            assert_eq!(look(path.to_str().unwrap()).absence, want);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
