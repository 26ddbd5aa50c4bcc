//! The repository as the rules see it: relative paths and their text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Folders that hold what was built or fetched, never what was written here.
const BUILT: &[&str] = &[".git", "target", "node_modules", ".venv", "__pycache__"];

/// All files, by their path from the root with `/` between the parts. A file that is not text
/// has no text.
#[derive(Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads everything below a folder.
    pub(super) fn read(root: &Path) -> Result<Tree> {
        let mut tree = Tree::default();
        tree.walk(root, "")?;
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path, inside: &str) -> Result<()> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{inside}{name}");
            if !entry.file_type()?.is_dir() {
                let bytes = fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
                self.files.insert(path, String::from_utf8(bytes).unwrap_or_default());
            } else if !BUILT.contains(&name.as_str()) {
                self.walk(&entry.path(), &format!("{path}/"))?;
            }
        }
        Ok(())
    }

    /// A tree that exists only in a test.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        Tree { files }
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Every path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Path and text of the files whose name ends so.
    pub(super) fn ending<'a>(
        &'a self,
        ends: &'a [&str],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(|(path, _)| ends.iter().any(|end| path.ends_with(end)))
    }

    /// Whether a file or folder has exactly this path.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        self.files.contains_key(path) || self.paths().any(|file| file.starts_with(&folder))
    }

    /// Whether some file or folder's path ends with these parts.
    pub(super) fn has_ending(&self, parts: &str) -> bool {
        let end = format!("/{}", parts.trim_end_matches('/'));
        let inside = format!("{end}/");
        self.paths().any(|file| file.ends_with(&end) || file.contains(&inside))
    }
}
