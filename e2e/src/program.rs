//! Programs under `e2e/programs`, compiled with the system's compilers into the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program to run: a source of ours and how it is built, or something already on the machine.
#[derive(Debug, Clone)]
pub struct Program {
    name: String,
    source: Option<PathBuf>,
    flags: Vec<String>,
    command: Vec<String>,
    /// Whether it is built for aarch64, and run by an emulator.
    emulated: bool,
}

/// What runs programs for aarch64, and where it finds their libraries.
const EMULATOR: [&str; 3] = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"];

impl Program {
    /// `e2e/programs/<name>.c`.
    #[must_use]
    pub fn c(name: &str) -> Program {
        Program::source(name, &format!("{name}.c"))
    }

    /// `e2e/programs/<name>.cpp`.
    #[must_use]
    pub fn cpp(name: &str) -> Program {
        Program::source(name, &format!("{name}.cpp"))
    }

    /// A script under `e2e/programs`, run by an interpreter of the machine.
    #[must_use]
    pub fn script(interpreter: &str, file: &str) -> Program {
        let script = sources().join(file).display().to_string();
        Program::system(file, &[interpreter, &script])
    }

    /// A command of the machine.
    #[must_use]
    pub fn system(name: &str, command: &[&str]) -> Program {
        let command = command.iter().map(ToString::to_string).collect();
        Program { name: name.into(), source: None, flags: Vec::new(), command, emulated: false }
    }

    fn source(name: &str, file: &str) -> Program {
        let source = Some(sources().join(file));
        let (flags, command) = (Vec::new(), Vec::new());
        Program { name: name.into(), source, flags, command, emulated: false }
    }

    /// The same source under another name, for another build of it.
    #[must_use]
    pub fn named(mut self, name: &str) -> Program {
        self.name = name.into();
        self
    }

    /// One more flag for the compiler.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Program {
        self.flags.push(flag.into());
        self
    }

    /// The same for aarch64, run by an emulator.
    #[must_use]
    pub fn on_aarch64(mut self) -> Program {
        self.emulated = true;
        self
    }

    /// Whether the machine can compile and run programs for aarch64.
    #[must_use]
    pub fn is_aarch64_there() -> bool {
        on_path(EMULATOR[0]) && on_path("aarch64-linux-gnu-gcc") && Path::new(EMULATOR[2]).is_dir()
    }

    /// What reports call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the machine has what this program needs; a script or a command may be missing.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.source.is_some() || self.command.first().is_some_and(|command| on_path(command))
    }

    /// The words of the command line, compiling first where there is a source.
    pub fn words(&self) -> Result<Vec<String>> {
        match &self.source {
            Some(source) => {
                let emulator: &[&str] = if self.emulated { &EMULATOR } else { &[] };
                let mut words: Vec<String> = emulator.iter().map(ToString::to_string).collect();
                words.push(self.compile(source)?.display().to_string());
                Ok(words)
            }
            None => Ok(self.command.clone()),
        }
    }

    /// Compiles unless the binary is newer than source and header.
    pub fn compile(&self, source: &Path) -> Result<PathBuf> {
        // Another set of flags is another binary, in a folder of its own.
        let processor = if self.emulated { "aarch64" } else { "" };
        let flags = format!("flags{processor}{}", self.flags.concat());
        let folder = output().join(flags.replace('/', "_"));
        fs::create_dir_all(&folder)?;
        let binary = folder.join(&self.name);
        let inputs = [source, &sources().join("expect.h"), &sources().join("patch.h")];
        if is_fresh(&binary, &inputs) {
            return Ok(binary);
        }
        // Tests run in parallel: each compiles under its own name, and the last rename wins.
        let own = folder.join(format!("{}.{}", self.name, std::process::id()));
        let compiler = match source.extension() {
            _ if self.emulated => "aarch64-linux-gnu-gcc",
            Some(language) if language == "cpp" => "g++",
            _ => "gcc",
        };
        let mut command = Command::new(compiler);
        command.args(["-O1", "-g", "-w"]).args(&self.flags).arg("-o").arg(&own).arg(source);
        command.args(["-pthread", "-ldl", "-lrt"]);
        let done = command.output().with_context(|| format!("{compiler} is not installed"))?;
        if !done.status.success() {
            bail!("{compiler} {}: {}", source.display(), String::from_utf8_lossy(&done.stderr));
        }
        fs::rename(&own, &binary)?;
        Ok(binary)
    }

    /// Compiles to a shared library.
    pub fn library(self) -> Result<PathBuf> {
        let name = format!("lib{}.so", self.name);
        let library = self.named(&name).flag("-shared").flag("-fPIC");
        let source = library.source.clone().context("only a source becomes a library")?;
        library.compile(&source)
    }

    /// A source elsewhere in `e2e/`, as the tripwire.
    #[must_use]
    pub fn beside(path: &str) -> Program {
        let source = sources().join("..").join(path);
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (flags, command) = (Vec::new(), Vec::new());
        Program { name, source: Some(source), flags, command, emulated: false }
    }
}

/// Where the sources are.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Where binaries and run directories go: beside cargo's own output.
pub(crate) fn output() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    // target/<profile>/deps/<test>, target/<profile>/<program>: the profile's parent is the target.
    let target = test.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let folder = target.map_or_else(std::env::temp_dir, Path::to_path_buf).join("e2e");
    // A failure shows at once where the first file is made, with the path.
    fs::create_dir_all(&folder).ok();
    folder
}

pub(crate) fn is_fresh(binary: &Path, inputs: &[&Path]) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let Some(built) = time(binary) else { return false };
    inputs.iter().all(|input| time(input).is_some_and(|changed| changed < built))
}

pub(crate) fn on_path(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(command).is_file())
}
