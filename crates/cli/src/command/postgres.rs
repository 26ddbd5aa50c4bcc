//! `netra postgres`: lets clients of PostgreSQL ask the store.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use netra_event::Bytes;
use netra_show::door::postgres::{Listener, Settings, Tls, Users, serve};
use netra_store::ask::{Ground, Limits};
use netra_store::{Place, Store};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;

const EXAMPLES: &str = "\
Over a network a password is needed (netra password makes entries); through the socket the kernel says who asks. You and
root see everything there, others their own jobs.

Examples:
  netra postgres --socket ~/.netra                    psql -h ~/.netra netra
  netra postgres --listen 127.0.0.1:5433 --users users
  netra postgres --listen 0.0.0.0:5433 --users users --certificate cert.pem --key key.pem";

/// Which store, who may ask, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store: a directory or an object-store URL [default: NETRA_STORE, else your own]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// Address and port; any but those of this machine need a certificate
    #[arg(long, value_name = "ADDRESS:PORT", requires = "users")]
    listen: Option<SocketAddr>,
    /// Directory for a socket that only this machine reaches
    #[arg(long, value_name = "DIR", required_unless_present = "listen")]
    socket: Option<PathBuf>,
    /// File of users and passwords, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Certificate (PEM): connections must then be encrypted
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Seconds after which a question is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Memory for all questions together, in MiB; what is more goes to disk
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u64,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 100)]
    connections: usize,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let place = match &args.store {
        Some(text) => Place::parse(text)?,
        None => Place::usual()?,
    };
    let store = Arc::new(Store::open(place)?);
    let settings = Arc::new(settings(args)?);
    let runtime = Runtime::new().context("starting threads")?;
    runtime.block_on(async {
        let mut doors = Vec::new();
        for listener in listeners(args).await? {
            doors.push(Box::pin(serve(listener, Arc::clone(&store) as _, Arc::clone(&settings))));
        }
        // A door ends only when it cannot go on.
        let (ended, ..) = futures::future::select_all(doors).await;
        ended.context("listening")
    })?;
    Ok(ExitCode::SUCCESS)
}

fn settings(args: &Args) -> Result<Settings> {
    let users = args.users.as_deref().map(Users::read).transpose()?.unwrap_or_default();
    let tls = match (&args.certificate, &args.key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
        _ => None,
    };
    let limits = Limits {
        memory: Bytes(args.memory << 20),
        timeout: Some(Duration::from_secs(args.timeout)),
        ..Limits::default()
    };
    Ok(Settings {
        users: Arc::new(users),
        tls,
        administrators: vec![0, rustix::process::getuid().as_raw()],
        connections: args.connections,
        ground: Ground::new(&limits)?,
    })
}

async fn listeners(args: &Args) -> Result<Vec<Listener>> {
    let mut all = Vec::new();
    if let Some(address) = args.listen {
        let tcp =
            TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
        eprintln!("netra: clients of PostgreSQL may come to {}", tcp.local_addr()?);
        all.push(Listener::Tcp(tcp));
    }
    if let Some(folder) = &args.socket {
        let path = folder.join(".s.PGSQL.5432");
        all.push(Listener::Unix(socket(&path)?));
        eprintln!(
            "netra: clients of PostgreSQL may come to {} (psql -h {} netra)",
            path.display(),
            folder.display()
        );
    }
    Ok(all)
}

/// A socket that a dead server left behind is replaced; a living one is not.
fn socket(path: &Path) -> Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        bail!("{} is in use: another server listens there", path.display());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing the old {}", path.display()));
        }
        _ => {}
    }
    let named = || format!("listening at {}", path.display());
    let listener = UnixListener::bind(path).with_context(named)?;
    // Whoever reaches the directory may knock: the kernel says who it is, and what they see follows from that.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).with_context(named)?;
    Ok(listener)
}
