//! A secret that all daemons of a site share, in a file that only its owner reads.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{Role, Transcript};

/// Fewer bytes can be guessed.
const SHORTEST: usize = 16;
/// More are not a secret but another file.
const LONGEST: u64 = 4096;

/// The secret. It is never shown.
#[derive(Clone)]
pub struct Secret {
    bytes: Arc<[u8]>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret { … }")
    }
}

impl Secret {
    /// Takes bytes as a secret.
    ///
    /// # Errors
    /// They are too few.
    pub fn new(bytes: &[u8]) -> io::Result<Secret> {
        if bytes.len() < SHORTEST {
            let says = format!("a secret has at least {SHORTEST} bytes; this has {}", bytes.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, says));
        }
        Ok(Secret { bytes: bytes.into() })
    }

    /// Reads a file, whose last line end is not part of the secret.
    ///
    /// # Errors
    /// It can not be read, others can read it too, or it is too short or too long.
    pub fn read(path: &Path) -> io::Result<Secret> {
        let file = File::open(path)?;
        let mode = file.metadata()?.mode();
        if mode & 0o077 != 0 {
            let says = format!(
                "{} can be read or changed by others (mode {:o}); chmod 600 it",
                path.display(),
                mode & 0o777
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
        }
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST {
            let says = format!("{} is too long for a secret ({LONGEST} bytes)", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, says));
        }
        let end = bytes.strip_suffix(b"\n").map_or(bytes.len(), <[u8]>::len);
        Secret::new(&bytes[..end])
    }

    pub(super) fn prove(&self, role: Role, about: &Transcript) -> [u8; 32] {
        self.mac(role, about).finalize().into_bytes().into()
    }

    /// Compares in a time that does not tell how much was right.
    pub(super) fn verify(&self, role: Role, about: &Transcript, proof: &[u8]) -> bool {
        self.mac(role, about).verify_slice(proof).is_ok()
    }

    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    fn mac(&self, role: Role, about: &Transcript) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.bytes).expect("any length is a key");
        mac.chain_update(role.label()).chain_update(about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_mac_is_the_standard_one() {
        // printf 'netra caller%032d' 0 | openssl dgst -sha256 -hmac 0123456789abcdef
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let found = secret.prove(Role::Caller, &[b'0'; 32]);
        let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "eba41a5ba41d497626f22b88dd92d28a98e6df1fa1e6d60e67b266bdb0d97687");
    }

    #[test]
    fn a_file_that_others_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        let says = Secret::read(&path).unwrap_err().to_string();
        assert!(says.ends_with("(mode 640); chmod 600 it"), "{says}");
        mode(0o600);
        let read = Secret::read(&path).unwrap();
        assert_eq!(&*read.bytes, b"0123456789abcdef");
        assert_eq!(format!("{read:?}"), "Secret { … }");
        fs::write(&path, "short\n").unwrap();
        assert!(Secret::read(&path).unwrap_err().to_string().contains("this has 5"));
        fs::write(&path, [b'x'; 5000]).unwrap();
        assert!(Secret::read(&path).unwrap_err().to_string().contains("too long"));
    }
}
