//! How much memory and space there is.

use std::fs;
use std::path::Path;

/// Bytes of memory that can be taken without pushing others out; nothing if the system does not
/// say.
#[must_use]
pub fn available() -> Option<u64> {
    parse(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Bytes free for this user on the file system of a path.
#[must_use]
pub fn free_space(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    about.f_bavail.checked_mul(about.f_frsize)
}

fn parse(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn kilobytes_become_bytes() {
        assert_eq!(parse("MemTotal: 9 kB\nMemAvailable:   1234 kB\n"), Some(1_263_616));
        assert_eq!(parse("MemTotal: 9 kB\n"), None);
        assert_eq!(parse("MemAvailable: x kB\n"), None);
    }
}
