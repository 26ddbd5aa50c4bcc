//! Where clients of PostgreSQL ask a store: that of a directory, or that of a daemon with what it has in memory.

use std::future::Future;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use netra_event::Bytes;
use netra_show::door::postgres::{Listener, Settings, Tls, Users, serve};
use netra_store::Store;
use netra_store::ask::{Ground, Limits};
use netra_stream::daemon::Door;
use tokio::net::{TcpListener, UnixListener};

/// Opens doors, and says where; what is given back answers until it can not go on.
pub(crate) async fn open(
    door: &Door,
    store: Arc<Store>,
) -> Result<impl Future<Output = Result<()>> + use<>> {
    let settings = Arc::new(settings(door)?);
    let listeners = listeners(door).await?;
    Ok(async move {
        let doors = listeners.into_iter().map(|listener| {
            Box::pin(serve(listener, Arc::clone(&store) as _, Arc::clone(&settings)))
        });
        let (ended, ..) = futures::future::select_all(doors).await;
        ended.context("listening")
    })
}

fn settings(door: &Door) -> Result<Settings> {
    let users = door.users.as_deref().map(Users::read).transpose()?.unwrap_or_default();
    let tls =
        door.tls.as_ref().map(|(certificate, key)| Tls::read(certificate, key)).transpose()?;
    let limits =
        Limits { memory: Bytes(door.memory), timeout: Some(door.timeout), ..Limits::default() };
    Ok(Settings {
        users: Arc::new(users),
        tls,
        administrators: vec![0, rustix::process::getuid().as_raw()],
        connections: usize::try_from(door.connections).unwrap_or(usize::MAX),
        ground: Ground::new(&limits)?,
    })
}

async fn listeners(door: &Door) -> Result<Vec<Listener>> {
    let mut all = Vec::new();
    if let Some(address) = &door.listen {
        let tcp =
            TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
        eprintln!("netra: clients of PostgreSQL may come to {}", tcp.local_addr()?);
        all.push(Listener::Tcp(tcp));
    }
    if let Some(folder) = &door.socket {
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
