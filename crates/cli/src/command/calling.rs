//! What commands that talk to a daemon have in common: where it is, and who we are.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_event::Setting;
use netra_stream::auth::{Method, Munge, Secret};
use netra_stream::wire::tls::{Client, Files};
use netra_stream::wire::{Address, Proven};

use crate::setting;

/// Which daemon, and how to prove who calls.
#[derive(Debug, clap::Args)]
pub(crate) struct Calling {
    /// Where the daemon listens: tcp:HOST:PORT or unix:PATH [default: $NETRA_DAEMON, else its socket in
    /// $XDG_RUNTIME_DIR/netra or /run/netra]
    #[arg(long, value_name = "ADDRESS")]
    daemon: Option<String>,
    /// The file with the secret that the daemon knows too
    #[arg(long, value_name = "FILE", conflicts_with = "munge")]
    secret: Option<PathBuf>,
    /// Prove with MUNGE who calls
    #[arg(long)]
    munge: bool,
    /// Encrypt, and believe the daemon if an authority in this file vouches for it
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Show this certificate to the daemon
    #[arg(long, value_name = "FILE", requires = "ca", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's key
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
}

impl Calling {
    /// The daemon that was named, here or in the environment.
    pub(crate) fn named(&self) -> Option<String> {
        let set = setting::value(Setting::Daemon).map(|text| text.to_string_lossy().into_owned());
        self.daemon.clone().or(set)
    }

    pub(crate) fn address(&self) -> Result<Address> {
        if let Some(text) = self.named() {
            return text.parse().map_err(anyhow::Error::msg);
        }
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let places = runtime.into_iter().chain([PathBuf::from("/run")]);
        let sockets: Vec<PathBuf> = places.map(|place| place.join("netra/daemon.sock")).collect();
        match sockets.iter().find(|path| path.exists()) {
            Some(path) => Ok(Address::Unix(path.clone())),
            None => bail!("no daemon listens at {}; --daemon says where one does", list(&sockets)),
        }
    }

    pub(crate) fn caller(&self) -> Result<Proven> {
        let method = match &self.secret {
            Some(path) => Method::Secret(secret(path).context("reading the secret")?),
            None if self.munge => Method::Munge(Munge::default()),
            None => Method::Open,
        };
        Ok(Proven { method, tls: self.encryption()? })
    }

    fn encryption(&self) -> Result<Option<Client>> {
        if self.ca.is_none() {
            return Ok(None);
        }
        let files = Files {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            ca: self.ca.clone(),
            clients: None,
        };
        let words = |(key, problem)| format!("--{key}: {problem}");
        match files.load() {
            Ok(tls) => Ok(tls.client),
            Err(problems) => {
                let lines: Vec<String> = problems.into_iter().map(words).collect();
                bail!("{}", lines.join("; "))
            }
        }
    }
}

fn secret(path: &Path) -> io::Result<Secret> {
    Secret::read(path)
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(" or ")
}
