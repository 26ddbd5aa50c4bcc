//! A command: whether the library can get into it, and whether it will see what the command does.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use netra_event::roll::Absence;
use netra_stream::source::is_launcher;
use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, FileKind};

use super::loader::{is_sanitizer, no_exec};
use super::{Finding, bad, good, note};

/// Interpreters that lead to interpreters: more are a mistake.
const DEEPEST: usize = 4;
/// The bits that change the user or the group.
const SET_ID: u32 = 0o6000;

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine(u16);

/// This machine's processor.
pub(super) const NATIVE: Machine =
    Machine(if cfg!(target_arch = "aarch64") { elf::EM_AARCH64.0 } else { elf::EM_X86_64.0 });

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match elf::Machine(self.0) {
            elf::EM_X86_64 => f.write_str("x86_64"),
            elf::EM_AARCH64 => f.write_str("aarch64"),
            elf::EM_386 => f.write_str("32-bit x86"),
            elf::EM_PPC64 => f.write_str("ppc64"),
            elf::EM_RISCV => f.write_str("riscv"),
            elf::Machine(other) => write!(f, "processor {other}"),
        }
    }
}

/// What an executable says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elf {
    pub(super) machine: Machine,
    interpreter: Option<Vec<u8>>,
    needed: Vec<String>,
    go: bool,
}

impl Elf {
    /// Reads an executable or a library; nothing if it is neither, or damaged.
    pub(super) fn parse(bytes: &[u8]) -> Option<Elf> {
        match FileKind::parse(bytes).ok()? {
            FileKind::Elf64 => {}
            FileKind::Elf32 => {
                let machine = Machine(elf::EM_386.0);
                return Some(Elf { machine, interpreter: None, needed: Vec::new(), go: false });
            }
            _ => return None,
        }
        let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
        let (endian, header) = (file.endian(), file.elf_header());
        let mut found = Elf {
            machine: Machine(header.e_machine(endian).0),
            interpreter: None,
            needed: Vec::new(),
            go: false,
        };
        for segment in header.program_headers(endian, bytes).ok()? {
            if let Ok(Some(path)) = segment.interpreter(endian, bytes) {
                found.interpreter = Some(path.to_vec());
            }
        }
        let sections = file.elf_section_table();
        found.go = sections.section_by_name(endian, b".go.buildinfo").is_some()
            || sections.section_by_name(endian, b".note.go.buildid").is_some();
        if let Ok(Some((entries, strings))) = sections.dynamic(endian, bytes) {
            let strings = sections.strings(endian, bytes, strings).unwrap_or_default();
            for entry in entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED) {
                if let Ok(name) = entry.string(endian, strings) {
                    found.needed.push(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
        Some(found)
    }

    /// Why the program is not recorded, or not all it does.
    fn absence(&self) -> Option<Absence> {
        match &self.interpreter {
            _ if self.machine != NATIVE => Some(Absence::Machine),
            None => Some(Absence::Static),
            Some(loader) if loader.windows(7).any(|part| part == b"ld-musl") => {
                Some(Absence::OtherLibc)
            }
            Some(_) => self.go.then_some(Absence::Go),
        }
    }
}

/// How a command has to be started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// The program, or a script's interpreter.
    pub(crate) program: PathBuf,
    /// Why it will not be recorded.
    pub(crate) absence: Option<Absence>,
    /// The library that insists on being preloaded first.
    pub(crate) first: Option<String>,
}

/// Looks at a command before it is started.
pub(crate) fn start(command: &OsStr) -> Start {
    let mut path = find(command, env::var_os("PATH"));
    for _ in 0..DEEPEST {
        let Some(program) = path else { break };
        let (Ok(about), Ok(bytes)) = (fs::metadata(&program), fs::read(&program)) else { break };
        if let Some(line) = bytes.strip_prefix(b"#!") {
            path = find(interpreter(line).as_os_str(), env::var_os("PATH"));
            continue;
        }
        if has_other_rights(&program, about.permissions().mode()) {
            return Start { program, absence: Some(Absence::Rights), first: None };
        }
        let Some(elf) = Elf::parse(&bytes) else { break };
        let first = elf.needed.iter().find(|name| is_sanitizer(name)).cloned();
        return Start { program, absence: elf.absence(), first };
    }
    Start::default()
}

fn has_other_rights(path: &Path, mode: u32) -> bool {
    mode & SET_ID != 0 || has_capabilities(path)
}

pub(super) fn examine(command: &OsStr) -> Vec<Finding> {
    let shown = command.display();
    match find(command, env::var_os("PATH")) {
        None => vec![bad(format!("{shown}: {}", why_not(command)))],
        Some(path) => follow(&path, 0),
    }
}

/// Looks at what a launcher starts: the first of its words that is a program.
pub(super) fn launched(command: &[OsString]) -> Vec<Finding> {
    let Some((launcher, words)) = command.split_first() else { return Vec::new() };
    if !is_launcher(launcher.as_bytes(), false) {
        return Vec::new();
    }
    let is_option = |word: &OsString| word.as_bytes().starts_with(b"-");
    let program = words.iter().filter(|word| !is_option(word)).find_map(|word| {
        let found = find(word, env::var_os("PATH"))?;
        fs::metadata(&found)
            .is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
            .then_some(word)
    });
    match program {
        Some(program) => examine(program),
        None => vec![bad(format!(
            "none of the words behind {} is a program that can be run",
            launcher.display()
        ))],
    }
}

/// Why a word is no command.
fn why_not(command: &OsStr) -> &'static str {
    let here = fs::metadata(command);
    let named = command.as_bytes().contains(&b'/');
    match here {
        Ok(about) if about.is_dir() => "is a folder",
        Ok(about) if about.permissions().mode() & 0o111 == 0 => "is not executable (chmod +x)",
        Ok(_) if !named => "is a file of this folder and no command; write ./ before it",
        _ => "command not found",
    }
}

/// Where a command lies, as a shell looks for it.
fn find(command: &OsStr, path: Option<OsString>) -> Option<PathBuf> {
    let plain = Path::new(command);
    let executable = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if command.as_bytes().contains(&b'/') {
        return Some(plain.to_owned()).filter(executable);
    }
    env::split_paths(&path?).map(|folder| folder.join(plain)).find(executable)
}

/// Looks at a program, and at the interpreter of a script.
fn follow(path: &Path, depth: usize) -> Vec<Finding> {
    let shown = path.display();
    let mut findings = Vec::new();
    let (Ok(about), Ok(bytes)) = (fs::metadata(path), fs::read(path)) else {
        return vec![note(format!("{shown} can not be read, so nothing is known about it"))];
    };
    let mode = about.permissions().mode();
    if mode & 0o111 == 0 {
        findings.push(bad(format!("{shown} is not executable")));
    }
    if no_exec(path) {
        findings.push(bad(format!("{shown} lies on a file system mounted noexec")));
    }
    if let Some(line) = bytes.strip_prefix(b"#!") {
        let interpreter = interpreter(line);
        findings.push(good(format!("{shown} is a script for {}", interpreter.display())));
        if depth < DEEPEST {
            match find(interpreter.as_os_str(), env::var_os("PATH")) {
                Some(next) => findings.extend(follow(&next, depth + 1)),
                None => findings.push(bad(format!("{} is not there", interpreter.display()))),
            }
        }
        return findings;
    }
    if has_other_rights(path, mode) {
        findings.push(bad(format!(
            "{shown} runs with other rights (setuid, setgid or capabilities): the loader ignores \
             LD_PRELOAD"
        )));
        return findings;
    }
    match Elf::parse(&bytes) {
        Some(elf) => findings.extend(judge(path, &elf)),
        None => {
            findings.push(note(format!("{shown} is neither a program nor names an interpreter")))
        }
    }
    findings
}

/// The program that a script's first line names; `env` finds it by the next word.
fn interpreter(line: &[u8]) -> PathBuf {
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let named = if first.ends_with(b"/env") {
        words.find(|word| !word.starts_with(b"-") && !word.contains(&b'=')).unwrap_or(first)
    } else {
        first
    };
    PathBuf::from(OsStr::from_bytes(named))
}

fn has_capabilities(path: &Path) -> bool {
    let mut value = [0_u8; 64];
    rustix::fs::getxattr(path, "security.capability", &mut value).is_ok_and(|length| length > 0)
}

fn judge(path: &Path, elf: &Elf) -> Vec<Finding> {
    let shown = path.display();
    let mut findings = Vec::new();
    match elf.absence() {
        None => {}
        Some(Absence::Machine) => {
            return vec![bad(format!(
                "{shown} is for {}, the library is for {NATIVE}",
                elf.machine
            ))];
        }
        Some(why @ Absence::Static) => {
            return vec![bad(format!(
                "{shown} is {why}: there is no loader that could add the library"
            ))];
        }
        Some(why) => findings.push(bad(format!("{shown} is {why}: it is not recorded"))),
    }
    if let Some(name) = elf.needed.iter().find(|name| is_sanitizer(name)) {
        findings.push(note(format!(
            "{shown} is built with a sanitizer: netra run puts {name} first into LD_PRELOAD, as it \
             must be"
        )));
    }
    if findings.is_empty() {
        findings.push(good(format!("{shown} is dynamically linked for {NATIVE}: it is recorded")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn scripts_name_their_interpreter() {
        for (line, named) in [
            (&b"/bin/sh\necho"[..], "/bin/sh"),
            (b" /usr/bin/env python3\n", "python3"),
            (b"/usr/bin/env -S A=1 perl -w\n", "perl"),
            (b"", ""),
        ] {
            assert_eq!(interpreter(line), Path::new(named));
        }
    }

    #[test]
    fn this_test_is_a_program_and_others_are_judged() {
        let path = env::current_exe().unwrap();
        let elf = Elf::parse(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(elf.machine, NATIVE);
        assert!(elf.needed.iter().any(|name| name.starts_with("libc.so")), "{elf:?}");
        let level = |elf: Elf| judge(&path, &elf).iter().map(|found| found.level).max();
        assert_eq!(level(elf.clone()), Some(Level::Good));
        assert_eq!(level(Elf { interpreter: None, ..elf.clone() }), Some(Level::Bad));
        let musl = Some(b"/lib/ld-musl-x86_64.so.1".to_vec());
        assert_eq!(level(Elf { interpreter: musl, ..elf.clone() }), Some(Level::Bad));
        assert_eq!(level(Elf { machine: Machine(elf::EM_386.0), ..elf.clone() }), Some(Level::Bad));
        assert_eq!(level(Elf { go: true, ..elf.clone() }), Some(Level::Bad));
        let needed = vec!["libasan.so.8".to_owned()];
        assert_eq!(level(Elf { needed, ..elf }), Some(Level::Note));
        assert_eq!(Elf::parse(b"#!/bin/sh"), None);
        assert_eq!(Elf::parse(b""), None);
    }
}
