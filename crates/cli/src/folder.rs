//! Where a site and a user keep what reports follow, and the charts that are kept there in `views/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_show::view::Views;

/// The site's folder, then the user's.
pub(crate) fn usual() -> impl Iterator<Item = PathBuf> {
    let user = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    [Some(PathBuf::from("/etc")), user].into_iter().flatten().map(|folder| folder.join("netra"))
}

/// The shipped charts, the site's, the user's, then the files that were named; a later one takes
/// the place of an earlier one of the same name.
pub(crate) fn views(named: &[PathBuf]) -> Result<Views> {
    let mut views = Views::shipped();
    let mut wrong = Vec::new();
    let mut files = Vec::new();
    for folder in usual().map(|folder| folder.join("views")).filter(|folder| folder.is_dir()) {
        files.extend(in_folder(&folder)?);
    }
    files.extend_from_slice(named);
    for path in &files {
        if let Err(found) = views.add(&path.to_string_lossy(), &read(path)?) {
            wrong.extend(found.iter().map(ToString::to_string));
        }
    }
    if !wrong.is_empty() {
        bail!("views cannot be used:\n  {}", wrong.join("\n  "));
    }
    Ok(views)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}
