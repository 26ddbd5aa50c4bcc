//! Requests to stop: they come on a connection of their own, with the number and the secret of the one that is meant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion_postgres::pgwire::api::cancel::CancelHandler;
use datafusion_postgres::pgwire::messages::cancel::CancelRequest;
use datafusion_postgres::pgwire::messages::startup::SecretKey;
use netra_store::ask::Stopper;

/// The connections that can be stopped.
#[derive(Debug, Default)]
pub(super) struct Running {
    by_number: Mutex<HashMap<i32, (SecretKey, Stopper)>>,
}

impl Running {
    /// A connection can be stopped until what this gives is dropped.
    pub(super) fn enter(
        self: &Arc<Running>,
        number: i32,
        secret: SecretKey,
        stopper: Stopper,
    ) -> Place {
        if let Ok(mut all) = self.by_number.lock() {
            all.insert(number, (secret, stopper));
        }
        Place { running: Arc::clone(self), number }
    }
}

/// A connection's place in the list.
#[derive(Debug)]
pub(super) struct Place {
    running: Arc<Running>,
    number: i32,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(mut all) = self.running.by_number.lock() {
            all.remove(&self.number);
        }
    }
}

#[async_trait]
impl CancelHandler for Running {
    async fn on_cancel_request(&self, request: CancelRequest) {
        let Ok(all) = self.by_number.lock() else { return };
        // A wrong secret gets no answer, as the protocol has it.
        if let Some((secret, stopper)) = all.get(&request.pid)
            && secret.eq_value(&request.secret_key)
        {
            stopper.stop();
        }
    }
}
