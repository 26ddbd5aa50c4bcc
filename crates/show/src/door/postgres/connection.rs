//! One connection: what it may do before it has proved who it is, which is nothing, and what it has afterwards.

use std::sync::{Arc, OnceLock};

use datafusion_postgres::pgwire::api::auth::StartupHandler;
use datafusion_postgres::pgwire::api::cancel::CancelHandler;
use datafusion_postgres::pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use datafusion_postgres::pgwire::api::{
    ClientInfo, ErrorHandler, PgWireConnectionState, PgWireServerHandlers,
};
use datafusion_postgres::pgwire::error::{ErrorInfo, PgWireError, PgWireResult};
use netra_store::ask::{Session, Who};

use super::cancel::Place;
use super::catalog;
use super::cursor::Cursors;
use super::listen::Server;
use super::parse::Parser;
use super::refuse;
use super::setting::Values;
use super::startup::Entrance;

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// Over a network: it must know a password.
    Network,
    /// From a process of this machine: the kernel says whose.
    Local(u32),
}

/// What a connection has once it is in.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) session: Session,
    pub(super) values: Values,
    pub(super) cursors: Cursors,
    /// Leaves the list of what can be stopped when the connection ends.
    _place: Place,
}

impl Entered {
    pub(super) fn new(
        server: &Server,
        who: Who,
        values: Values,
        place: impl FnOnce(&Session) -> Place,
    ) -> PgWireResult<Entered> {
        let session = Session::new(Arc::clone(&server.source), who, &server.settings.ground);
        catalog::furnish(&session, &values)
            .map_err(|error| refuse::question(&session.error(&error)))?;
        let _place = place(&session);
        Ok(Entered { session, values, cursors: Cursors::default(), _place })
    }
}

/// A connection. Whatever state the protocol's own machine is in, nothing is answered before `entered` is filled.
pub(super) struct Connection {
    pub(super) server: Arc<Server>,
    pub(super) peer: Peer,
    pub(super) entrance: Entrance,
    pub(super) entered: Arc<OnceLock<Entered>>,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, peer: Peer) -> Connection {
        let entered = Arc::new(OnceLock::new());
        Connection { entrance: Entrance::new(&server), server, peer, entered }
    }

    pub(super) fn inside(&self) -> PgWireResult<&Entered> {
        inside(&self.entered)
    }

    pub(super) fn parser(&self) -> Arc<Parser> {
        Arc::new(Parser::new(Arc::clone(&self.entered)))
    }
}

/// What a connection has, if it is in.
pub(super) fn inside(entered: &OnceLock<Entered>) -> PgWireResult<&Entered> {
    entered.get().ok_or_else(|| refuse::fatal("28000", "the connection has not proved who it is"))
}

/// A connection in all the roles that the protocol's machine wants filled.
pub(super) struct Handlers(pub(super) Arc<Connection>);

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        Arc::clone(&self.0)
    }

    fn extended_query_handler(&self) -> Arc<impl ExtendedQueryHandler> {
        Arc::clone(&self.0)
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        Arc::clone(&self.0)
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        Arc::clone(&self.0.server.running)
    }

    fn error_handler(&self) -> Arc<impl ErrorHandler> {
        Arc::clone(&self.0)
    }
}

impl ErrorHandler for Connection {
    /// What goes wrong before a connection is in ends it: the protocol's machine would otherwise go on as if it were.
    fn on_error<C: ClientInfo>(&self, client: &C, error: &mut PgWireError) {
        if let PgWireError::InvalidPassword(_) = error {
            let name = client.metadata().get("user").map_or("", String::as_str);
            *error = refuse::fatal(
                "28P01",
                format!("password authentication failed for user \"{name}\""),
            );
        }
        let starting = matches!(
            client.state(),
            PgWireConnectionState::AwaitingSslRequest
                | PgWireConnectionState::AwaitingStartup
                | PgWireConnectionState::AuthenticationInProgress
        );
        if starting || self.entered.get().is_none() {
            let taken = std::mem::replace(error, PgWireError::QueryCanceled);
            let mut info = ErrorInfo::from(taken);
            "FATAL".clone_into(&mut info.severity);
            info.severity_nonlocalized = Some("FATAL".to_owned());
            *error = PgWireError::UserError(Box::new(info));
        }
    }
}
