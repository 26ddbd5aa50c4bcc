//! A server's certificate, for the PostgreSQL door and the page. What is wrong with it is an error at the start: nobody gets plain text instead.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate and its key, ready for connections.
#[derive(Clone)]
pub struct Tls {
    config: ServerConfig,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads a chain of certificates and its key, both PEM.
    ///
    /// # Errors
    /// What is wrong with which of the files.
    pub fn read(certificate: &Path, key: &Path) -> io::Result<Tls> {
        let wrong = |path: &Path, what: &dyn fmt::Display| {
            let message = format!("{}: {what}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(certificate, &error))?;
        if chain.is_empty() {
            return Err(wrong(certificate, &"there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret))
            .map_err(|error| wrong(certificate, &error))?;
        Ok(Tls { config })
    }

    /// Takes connections of a protocol, which clients that begin with TLS at once ask for by name.
    pub(crate) fn acceptor(&self, protocol: &str) -> TlsAcceptor {
        let mut config = self.config.clone();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}
