//! The files of settings for reports: the site's, the user's, and one that was named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_show::report::Settings;

/// Reads the site's settings, then the user's, then the file that was named, each over the one before.
pub(crate) fn read(named: Option<&Path>) -> Result<Settings> {
    let user = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    let usual = [Some(PathBuf::from("/etc")), user].into_iter().flatten();
    let usual = usual.map(|folder| folder.join("netra/report.toml")).filter(|path| path.exists());
    let mut settings = Settings::default();
    for path in usual.chain(named.map(Path::to_owned)) {
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        if let Err(wrong) = settings.add(&text) {
            let wrong: Vec<String> =
                wrong.iter().map(|what| format!("{}: {what}", path.display())).collect();
            bail!("{}", wrong.join("\nnetra: "));
        }
    }
    Ok(settings)
}
