//! A disk of a chosen size that can be full: a small tmpfs, where the user may mount one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted tmpfs; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Mounts `size` bytes at a folder, or nothing where that is not allowed.
    #[must_use]
    pub fn mount(at: &Path, size: u64) -> Option<SmallDisk> {
        fs::create_dir_all(at).ok()?;
        let options = format!("size={size},mode=0777");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "netra-e2e"]).arg(at);
        let done = mount.output().ok()?;
        done.status.success().then(|| SmallDisk { at: at.to_path_buf() })
    }

    /// Leaves no more than `free` bytes.
    pub fn fill(&self, size: u64, free: u64) -> std::io::Result<()> {
        fs::write(self.at.join("ballast"), vec![0; usize::try_from(size - free).unwrap_or(0)])
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.at).status().ok();
    }
}
