//! The files of settings for reports: the site's, the user's, and one that was named.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use netra_show::report::Settings;

use crate::{folder, setting};

/// Reads the site's settings, then the user's, then the file that was named, each over the one before.
pub(crate) fn read(named: Option<&Path>) -> Result<Settings> {
    let usual =
        folder::usual().map(|folder| folder.join("report.toml")).filter(|path| path.exists());
    let mut settings = Settings::default();
    let complain = |path: &Path, wrong: Vec<String>| {
        let wrong: Vec<String> =
            wrong.iter().map(|what| format!("{}: {what}", path.display())).collect();
        anyhow::anyhow!("{}", wrong.join("\nnetra: "))
    };
    for (path, text) in setting::of_reports() {
        settings.add_part(&text).map_err(|wrong| complain(path, wrong))?;
    }
    for path in usual.chain(named.map(Path::to_owned)) {
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        settings.add(&text).map_err(|wrong| complain(&path, wrong))?;
    }
    Ok(settings)
}
