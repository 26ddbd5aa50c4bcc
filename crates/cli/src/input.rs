//! Which logs are meant: files, folders and patterns become a list of paths.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Expands what was typed. A folder stands for every `*.darshan` below it; a quoted pattern is
/// expanded here, because the shell has limits that a year of logs exceeds. What names no file
/// at all stays in the list, so that opening it says why.
pub(crate) fn expand(typed: &[String]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for word in typed {
        let path = Path::new(word);
        if path.is_dir() {
            paths.extend(folder(path)?);
        } else if is_pattern(word) && !path.exists() {
            paths.extend(pattern(word)?);
        } else {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

fn folder(path: &Path) -> Result<Vec<PathBuf>> {
    let name = path.to_str().context("the folder's name is not valid UTF-8")?;
    let pattern = format!("{}/**/*.darshan", glob::Pattern::escape(name));
    matching(&pattern, &format!("there is no *.darshan below {name}"))
}

fn pattern(word: &str) -> Result<Vec<PathBuf>> {
    matching(word, &format!("no file matches {word}"))
}

/// The matches, sorted: the same command gives the same output.
fn matching(pattern: &str, nothing: &str) -> Result<Vec<PathBuf>> {
    let found = glob::glob(pattern).with_context(|| format!("{pattern} is not a pattern"))?;
    let mut paths = Vec::new();
    for path in found {
        let path = path?;
        if path.is_file() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        bail!("{nothing}");
    }
    paths.sort();
    Ok(paths)
}
