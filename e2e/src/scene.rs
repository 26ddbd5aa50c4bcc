//! A fresh directory for one case: where the program works, where its log and segment go, and
//! where it says what it did. Bare and instrumented runs see the same paths.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Files larger than this are compared by size: some programs make sparse ones of gigabytes.
const READ_UP_TO: u64 = 4 << 20;

/// A file, directory or whatever else a program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its kind and rights, as the kernel keeps them in one number.
    pub mode: u32,
    /// Its contents, a link's target, or how large it is where that is too much.
    pub contents: Vec<u8>,
}

/// One case's directories.
#[derive(Debug)]
pub struct Scene {
    root: PathBuf,
    kept: Cell<bool>,
}

/// Whether other users, whom programs may become, can enter a folder.
fn is_open_to_all(folder: &Path) -> bool {
    let enters = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|about| about.permissions().mode() & 0o001 != 0)
    };
    folder.ancestors().all(enters)
}

impl Scene {
    /// Makes an empty scene for a case; what an earlier run left there is removed.
    pub fn new(name: &str) -> Result<Scene> {
        let output = crate::program::output();
        if !is_open_to_all(&output) {
            return Scene::open_to_all(name);
        }
        Scene::at(output.join("run").join(name))
    }

    /// The same below a place that other users may enter.
    pub fn open_to_all(name: &str) -> Result<Scene> {
        let id = std::process::id();
        Scene::at(std::env::temp_dir().join(format!("netra-e2e-{name}-{id}")))
    }

    fn at(root: PathBuf) -> Result<Scene> {
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| format!("clear {}", root.display()))?;
        }
        let scene = Scene { root, kept: Cell::new(false) };
        for folder in [scene.work(), scene.logs(), scene.segments(), scene.expect()] {
            fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        }
        Ok(scene)
    }

    /// Where the program runs.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Where logs go.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Where segments go.
    #[must_use]
    pub fn segments(&self) -> PathBuf {
        self.root.join("segments")
    }

    /// Where programs say what they did.
    #[must_use]
    pub fn expect(&self) -> PathBuf {
        self.root.join("expect")
    }

    /// Where a stream of the program is kept.
    #[must_use]
    pub fn output(&self, stream: &str) -> PathBuf {
        self.root.join(stream)
    }

    /// Leaves everything where it is, for a look, and says where.
    pub fn keep(&self) -> &Path {
        self.kept.set(true);
        &self.root
    }

    /// Empties work and expectations between the two runs of a case.
    pub fn clear(&self) -> Result<()> {
        for folder in [self.work(), self.expect()] {
            fs::remove_dir_all(&folder).with_context(|| format!("clear {}", folder.display()))?;
            fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        }
        Ok(())
    }

    /// What the program left behind: each path below `work`.
    pub fn files(&self) -> Result<BTreeMap<PathBuf, Left>> {
        let mut files = BTreeMap::new();
        let work = self.work();
        let mut folders = vec![work.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let facts = fs::symlink_metadata(&path)?;
                if facts.is_dir() {
                    folders.push(path.clone());
                }
                let inside = path.strip_prefix(&work)?.to_path_buf();
                let left =
                    Left { mode: facts.permissions().mode(), contents: contents(&path, &facts)? };
                files.insert(inside, left);
            }
        }
        Ok(files)
    }
}

fn contents(path: &Path, facts: &fs::Metadata) -> Result<Vec<u8>> {
    if facts.is_file() && facts.len() <= READ_UP_TO {
        return fs::read(path).with_context(|| format!("read {}", path.display()));
    }
    if facts.is_symlink() {
        return Ok(fs::read_link(path)?.as_os_str().as_bytes().to_vec());
    }
    let bytes = if facts.is_file() { facts.len() } else { 0 };
    Ok(format!("{:?}, {bytes} bytes", facts.file_type()).into_bytes())
}

impl Drop for Scene {
    fn drop(&mut self) {
        // What failed is kept for a look; the next run clears it.
        if !std::thread::panicking() && !self.kept.get() {
            fs::remove_dir_all(&self.root).ok();
        }
    }
}
