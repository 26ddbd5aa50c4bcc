//! Coming in: the database must be ours, TLS must be there if there is a certificate, and a password must be right, or the
//! kernel must say who is at the other end.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion_postgres::pgwire::api::auth::sasl::SASLAuthStartupHandler;
use datafusion_postgres::pgwire::api::auth::sasl::scram::{ScramAuth, gen_salted_password};
use datafusion_postgres::pgwire::api::auth::{
    AuthSource, LoginInfo, Password, ServerParameterProvider, StartupHandler,
    finish_authentication, protocol_negotiation, save_startup_parameters_to_metadata,
};
use datafusion_postgres::pgwire::api::{
    ClientInfo, PgWireConnectionState, PidSecretKeyGenerator as _,
};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::startup::Startup;
use datafusion_postgres::pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use futures::Sink;
use netra_store::ask::{CATALOG, Who};

use super::connection::{Connection, Entered, Peer};
use super::listen::Server;
use super::refuse;
use super::setting::Values;
use super::user::{ROUNDS, Users};

/// The exchange of proofs, which has a state of its own for each connection.
pub(super) struct Entrance {
    scram: SASLAuthStartupHandler<Parameters>,
}

impl Entrance {
    pub(super) fn new(server: &Arc<Server>) -> Entrance {
        let passwords =
            Passwords { users: Arc::clone(&server.settings.users), secret: server.secret };
        let mut scram = ScramAuth::new(Arc::new(passwords));
        scram.set_iterations(ROUNDS);
        let scram = SASLAuthStartupHandler::new(Arc::new(Parameters))
            .with_scram(scram)
            .with_pid_secret_key_generator(Arc::clone(&server.numbers) as _);
        Entrance { scram }
    }
}

/// Passwords for the exchange. A user who is not there gets one that nobody knows, so that a stranger cannot find out
/// who is.
#[derive(Debug)]
struct Passwords {
    users: Arc<Users>,
    secret: [u8; 16],
}

#[async_trait]
impl AuthSource for Passwords {
    async fn get_password(&self, login: &LoginInfo) -> PgWireResult<Password> {
        let name = login.user().unwrap_or_default();
        Ok(match self.users.get(name) {
            Some(user) => Password::new(Some(user.salt.clone()), user.salted.clone()),
            None => {
                // The same name must get the same salt again, as a real one would.
                let salt = gen_salted_password(name, &self.secret, 1)[..16].to_vec();
                let nobody = gen_salted_password(name, &[&self.secret[..], b"nobody"].concat(), 1);
                Password::new(Some(salt), nobody)
            }
        })
    }
}

/// What a client is told about the server when it is in.
struct Parameters;

impl ServerParameterProvider for Parameters {
    fn server_parameters<C: ClientInfo>(&self, client: &C) -> Option<HashMap<String, String>> {
        Some(Values::told(client.metadata()))
    }
}

#[async_trait]
impl StartupHandler for Connection {
    async fn on_startup<C>(
        &self,
        client: &mut C,
        message: PgWireFrontendMessage,
    ) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if let PgWireFrontendMessage::Startup(startup) = &message {
            self.check(client, startup)?;
        }
        match (self.peer, message) {
            (Peer::Local(uid), PgWireFrontendMessage::Startup(startup)) => {
                protocol_negotiation(client, &startup).await?;
                save_startup_parameters_to_metadata(client, &startup);
                let (number, secret) = self.server.numbers.generate(client);
                client.set_pid_and_secret_key(number, secret);
                self.enter(client, self.server.settings.rights(uid))?;
                finish_authentication(client, &Parameters).await
            }
            (Peer::Local(_), _) => Ok(()),
            (Peer::Network, message) => {
                self.entrance.scram.on_startup(client, message).await?;
                // The machine says so when the proof was right, and only then.
                if matches!(client.state(), PgWireConnectionState::ReadyForQuery) {
                    let name = client.metadata().get("user").cloned().unwrap_or_default();
                    let who = self.server.settings.users.get(&name).map(|user| user.who);
                    let who = who.ok_or_else(|| refuse::fatal("28000", "there is no such user"))?;
                    self.enter(client, who)?;
                }
                Ok(())
            }
        }
    }
}

impl Connection {
    /// What can be said before anybody proves anything.
    fn check<C: ClientInfo>(&self, client: &C, startup: &Startup) -> PgWireResult<()> {
        if self.peer == Peer::Network && self.server.settings.tls.is_some() && !client.is_secure() {
            return Err(refuse::fatal("28000", "the connection must use TLS (sslmode=require)"));
        }
        match startup.parameters.get("database").map(String::as_str) {
            None | Some("" | CATALOG) => Ok(()),
            Some(other) => Err(refuse::fatal(
                "3D000",
                format!("database \"{other}\" does not exist: the store is \"{CATALOG}\""),
            )),
        }
    }

    fn enter<C: ClientInfo>(&self, client: &C, who: Who) -> PgWireResult<()> {
        let values = Values::new(client.metadata());
        let (number, secret) = client.pid_and_secret_key();
        let entered = Entered::new(&self.server, who, values, |session| {
            self.server.running.enter(number, secret, session.stopper())
        })?;
        let again = self.entered.set(entered).is_err();
        if again { Err(refuse::fatal("08P01", "the connection is in already")) } else { Ok(()) }
    }
}
