//! Encryption: TLS 1.3 below the conversation. The one that is called shows a certificate, and the caller
//! believes it only if an authority that it was told of has signed it for the host that was called; the
//! caller shows one too where that is asked of it.
//!
//! Everything that can be wrong with the files is found when they are read, before anybody listens.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier as _;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};

use super::Address;

/// More is another kind of file.
const LONGEST: u64 = 1 << 20;
const VERSIONS: [&rustls::SupportedProtocolVersion; 1] = [&rustls::version::TLS13];

/// Where certificates and keys lie, in PEM.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// The own certificate, and those between it and an authority.
    pub certificate: Option<PathBuf>,
    /// Its key, which only its owner may read.
    pub key: Option<PathBuf>,
    /// Authorities whose word is taken for those that we call.
    pub ca: Option<PathBuf>,
    /// Authorities of which one must have signed the certificate of every caller.
    pub clients: Option<PathBuf>,
}

/// What a caller needs.
#[derive(Debug, Clone)]
pub struct Client(Arc<ClientConfig>);

/// What the one that is called needs.
#[derive(Debug, Clone)]
pub struct Server(Arc<ServerConfig>);

/// Both, as far as the files go.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// For calling; there if there are authorities for it.
    pub client: Option<Client>,
    /// For being called; there if there is a certificate.
    pub server: Option<Server>,
}

impl Client {
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

impl Server {
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }
}

/// What is wrong, and under which key of the settings.
pub type Problem = (&'static str, String);

type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Files {
    /// Reads the files.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn load(&self) -> Result<Tls, Vec<Problem>> {
        let mut problems = Vec::new();
        let own = note(self.own(), &mut problems).flatten();
        let ca = self.ca.as_deref().and_then(|path| note(roots("ca", path), &mut problems));
        let clients = self.clients.as_deref();
        let clients = clients.and_then(|path| note(roots("clients", path), &mut problems));
        if self.clients.is_some() && self.certificate.is_none() {
            problems
                .push(("clients", "says whose calls are taken; that needs a certificate".into()));
        }
        if problems.is_empty() && own.is_none() && ca.is_none() {
            problems.push(("certificate", "is missing, and so is ca".into()));
        }
        let server = own.as_ref().and_then(|own| note(server(copy(own), clients), &mut problems));
        let client = ca.and_then(|ca| note(client(own, ca), &mut problems));
        if problems.is_empty() { Ok(Tls { client, server }) } else { Err(problems) }
    }

    fn own(&self) -> Result<Option<Own>, Problem> {
        let (certificate, key) = match (&self.certificate, &self.key) {
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(("key", "belongs to the certificate, and is missing".into()));
            }
            (None, Some(_)) => {
                return Err(("certificate", "belongs to the key, and is missing".into()));
            }
            (Some(certificate), Some(key)) => (certificate, key),
        };
        let chain = certificates("certificate", certificate)?;
        is_valid_now(certificate, &chain)?;
        let bytes = read("key", key, true)?;
        let says = |error| ("key", format!("{}: no private key: {error}", key.display()));
        Ok(Some((chain, PrivateKeyDer::from_pem_slice(&bytes).map_err(says)?)))
    }
}

fn note<T>(found: Result<T, Problem>, problems: &mut Vec<Problem>) -> Option<T> {
    found.map_err(|problem| problems.push(problem)).ok()
}

fn copy((chain, key): &Own) -> Own {
    (chain.clone(), key.clone_key())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn read(name: &'static str, path: &Path, secret: bool) -> Result<Vec<u8>, Problem> {
    let failed = |error: io::Error| (name, format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode();
    if secret && mode & 0o077 != 0 {
        let says = format!(
            "{} can be read or changed by others (mode {:o}); chmod 600 it",
            path.display(),
            mode & 0o777
        );
        return Err((name, says));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn certificates(name: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let bytes = read(name, path, false)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let all = all.map_err(|error| (name, format!("{}: {error}", path.display())))?;
    match all.is_empty() {
        true => Err((name, format!("{} holds no certificate", path.display()))),
        false => Ok(all),
    }
}

fn roots(name: &'static str, path: &Path) -> Result<Arc<RootCertStore>, Problem> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(name, path)? {
        let failed = |error| (name, format!("{}: {error}", path.display()));
        roots.add(certificate).map_err(failed)?;
    }
    Ok(Arc::new(roots))
}

/// Whether the own certificate can be read and its time is now. Nobody's word for it is asked here: only
/// those whom it is shown to know whom they believe.
fn is_valid_now(path: &Path, chain: &[CertificateDer<'static>]) -> Result<(), Problem> {
    let failed = |error: String| ("certificate", format!("{}: {error}", path.display()));
    let (Some(own), Some(last)) = (chain.first(), chain.last()) else { return Ok(()) };
    let mut roots = RootCertStore::empty();
    roots.add(last.clone()).map_err(|error| failed(error.to_string()))?;
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let nobody =
        ServerName::try_from("nobody.invalid").map_err(|error| failed(error.to_string()))?;
    let judged = verifier.verify_server_cert(own, &chain[1..], &nobody, &[], UnixTime::now());
    match judged {
        Err(rustls::Error::InvalidCertificate(
            error @ (CertificateError::BadEncoding
            | CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. }),
        )) => Err(failed(error.to_string())),
        _ => Ok(()),
    }
}

fn server(own: Own, clients: Option<Arc<RootCertStore>>) -> Result<Server, Problem> {
    let failed = |error: rustls::Error| ("certificate", error.to_string());
    let builder = ServerConfig::builder_with_provider(provider());
    let builder = builder.with_protocol_versions(&VERSIONS).map_err(failed)?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(roots) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            let verifier = verifier.map_err(|error| ("clients", error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(own.0, own.1).map_err(failed)?;
    // Connections last; nothing is gained by resuming one.
    config.send_tls13_tickets = 0;
    Ok(Server(Arc::new(config)))
}

fn client(own: Option<Own>, ca: Arc<RootCertStore>) -> Result<Client, Problem> {
    let failed = |error: rustls::Error| ("certificate", error.to_string());
    let builder = ClientConfig::builder_with_provider(provider());
    let builder = builder.with_protocol_versions(&VERSIONS).map_err(failed)?;
    let builder = builder.with_root_certificates(ca);
    let mut config = match own {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(failed)?,
        None => builder.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Ok(Client(Arc::new(config)))
}

/// Whom a certificate must name: the host that is called.
pub(super) fn name(address: &Address) -> io::Result<ServerName<'static>> {
    let Address::Tcp(host) = address else {
        return Err(io::Error::other("encryption is for TCP only"));
    };
    let host = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).map_err(|error| {
        io::Error::other(format!("{host} can not stand in a certificate: {error}"))
    })
}

pub(super) fn failed(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {error}"))
}

/// What a failed beginning means to a person.
pub(super) fn explain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let says = match inner {
        Some(rustls::Error::InvalidMessage(_)) => "the other side does not speak TLS".to_owned(),
        Some(other) => format!("TLS: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the other side ends the connection instead of speaking TLS".to_owned()
        }
        None => return error,
    };
    io::Error::new(error.kind(), says)
}
