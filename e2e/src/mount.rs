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

    /// Leaves nothing; says how many bytes that took.
    pub fn fill_up(&self) -> std::io::Result<u64> {
        use std::io::Write as _;
        let mut file = fs::File::create(self.at.join("more-ballast"))?;
        let mut taken = 0;
        loop {
            match file.write_all(&[0; 4096]) {
                Ok(()) => taken += 4096,
                Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(taken),
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives back what filling took.
    pub fn empty(&self) -> std::io::Result<()> {
        for name in ["ballast", "more-ballast"] {
            match fs::remove_file(self.at.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.at).status().ok();
    }
}
