//! What makes a log the same log, wherever it lies and whatever it is called.
//!
//! A log of netra's own is known by the processes in it, since compressing or merging it anew changes
//! its bytes and what a daemon had stored while they ran is theirs too. Any other file is known by
//! its bytes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use netra_event::frame::Producer;
use sha2::{Digest as _, Sha256};

use super::hex;

/// The identity of what is imported, as the table of jobs keeps it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(pub String);

impl Identity {
    /// By its bytes.
    ///
    /// # Errors
    /// The file can not be read.
    pub fn of_file(path: &Path) -> io::Result<Identity> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hash.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Identity(format!("bytes:{}", hex(&hash.finalize()))))
    }

    /// By the processes in it, in any order.
    #[must_use]
    pub fn of_processes(producers: &[Producer]) -> Identity {
        let mut sorted = producers.to_vec();
        sorted.sort();
        let mut hash = Sha256::new();
        for Producer { host, start, pid } in sorted {
            hash.update(host.to_le_bytes());
            hash.update(start.to_le_bytes());
            hash.update(pid.to_le_bytes());
        }
        Identity(format!("processes:{}", hex(&hash.finalize())))
    }

    /// Eight digits of it, for keys that people type.
    #[must_use]
    pub fn short(&self) -> &str {
        let digits = self.0.split_once(':').map_or(self.0.as_str(), |(_, digits)| digits);
        digits.get(..8).unwrap_or(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use netra_event::frame::Producer;
    use std::io::Write as _;

    #[test]
    fn a_copy_is_the_same_and_a_change_is_not() {
        let make = |text: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text).unwrap();
            Identity::of_file(file.path()).unwrap()
        };
        assert_eq!(make(b"abc"), make(b"abc"));
        assert_ne!(make(b"abc"), make(b"abd"));
        assert_eq!(make(b"abc").short(), "ba7816bf");
    }

    #[test]
    fn processes_have_no_order() {
        let one = Producer { host: 1, start: 2, pid: 3 };
        let two = Producer { host: 1, start: 2, pid: 4 };
        assert_eq!(Identity::of_processes(&[one, two]), Identity::of_processes(&[two, one]));
        assert_ne!(Identity::of_processes(&[one]), Identity::of_processes(&[two]));
    }
}
