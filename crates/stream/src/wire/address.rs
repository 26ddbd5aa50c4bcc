//! Where a daemon listens: `tcp:HOST:PORT` or `unix:PATH`.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host, by name or number, and a port.
    Tcp(String),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.starts_with('/') {
                true => Ok(Address::Unix(path.into())),
                false => Err(format!("{text}: the path of a socket must be absolute")),
            };
        }
        let host = text.strip_prefix("tcp:").unwrap_or(text);
        let port = host.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        match port {
            Some((host_name, Ok(_))) if !host_name.is_empty() => Ok(Address::Tcp(host.to_owned())),
            _ => Err(format!("{text}: an address is tcp:HOST:PORT or unix:PATH")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host) => write!(f, "tcp:{host}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Address {
    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            Address::Tcp(host) => host
                .to_socket_addrs()
                .is_ok_and(|mut all| all.all(|address| is_loopback(address.ip()))),
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, shown, local) in [
            ("tcp:127.0.0.1:4040", "tcp:127.0.0.1:4040", true),
            ("[::1]:4040", "tcp:[::1]:4040", true),
            ("tcp:0.0.0.0:4040", "tcp:0.0.0.0:4040", false),
            ("unix:/run/netra/hub.sock", "unix:/run/netra/hub.sock", true),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.is_local()), (shown, local));
        }
        for wrong in ["", "host", "tcp:host", "tcp::4", "tcp:host:99999", "unix:here"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
