//! A fresh directory for one case: where the program works, where its log and segment go, and
//! where it says what it did. Bare and instrumented runs see the same paths.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Files larger than this are compared by size: some programs make sparse ones of gigabytes.
const READ_UP_TO: u64 = 4 << 20;

/// One case's directories.
#[derive(Debug)]
pub struct Scene {
    root: PathBuf,
}

impl Scene {
    /// Makes an empty scene for a case; what an earlier run left there is removed.
    pub fn new(name: &str) -> Result<Scene> {
        let root = crate::program::output().join("run").join(name);
        Scene::at(root)
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
        let scene = Scene { root };
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

    /// Empties work and expectations between the two runs of a case.
    pub fn clear(&self) -> Result<()> {
        for folder in [self.work(), self.expect()] {
            fs::remove_dir_all(&folder).with_context(|| format!("clear {}", folder.display()))?;
            fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        }
        Ok(())
    }

    /// What the program left behind: each path below `work` with its contents or size.
    pub fn files(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
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
                files.insert(inside, contents(&path, &facts)?);
            }
        }
        Ok(files)
    }
}

fn contents(path: &Path, facts: &fs::Metadata) -> Result<Vec<u8>> {
    if facts.is_file() && facts.len() <= READ_UP_TO {
        return fs::read(path).with_context(|| format!("read {}", path.display()));
    }
    Ok(format!("{:?}, {} bytes", facts.file_type(), if facts.is_dir() { 0 } else { facts.len() })
        .into_bytes())
}

impl Drop for Scene {
    fn drop(&mut self) {
        // What failed is kept for a look; the next run clears it.
        if !std::thread::panicking() {
            fs::remove_dir_all(&self.root).ok();
        }
    }
}
