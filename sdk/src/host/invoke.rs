//! Calls to other facades.

#[cfg(not(target_family = "wasm"))]
mod double;
#[cfg(target_family = "wasm")]
mod guest;

use std::time::Duration;

use serde::Serialize;

#[cfg(not(target_family = "wasm"))]
use self::double as port;
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::double::PeerDoubles;
#[cfg(target_family = "wasm")]
use self::guest as port;
use super::peer::{Peer, Schema};
use crate::{Detail, Failure, Object, Reply, Result, Value};

/// Lists the facades that this plugin may call.
///
/// # Errors
///
/// `denied` if the policy grants no `invoke`.
pub fn facades() -> Result<Vec<Peer>> {
    port::facades()
}

/// Returns the schemas of another facade's action.
///
/// # Errors
///
/// `denied` if the policy does not grant `invoke` for it; `not_found` if it does not exist.
pub fn lookup(facade: &str, action: &str) -> Result<Schema> {
    port::lookup(facade, action)
}

/// Calls other facades concurrently; the replies are in the order of the requests.
pub fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    port::invoke(requests)
}

/// A call to another facade.
///
/// ```
/// # use loggia_sdk::{host::Request, prelude::*};
/// fn open_issues() -> Result<Value> {
///     let reply = Request::new("issues", "list").param("state", "open").call()?;
///     Ok(reply.data)
/// }
/// # assert_eq!(open_issues().unwrap_err().code, "denied");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// Facade.
    pub facade: String,
    /// Action.
    pub action: String,
    /// Parameters.
    pub params: Object,
    /// Level of detail of the reply.
    pub detail: Detail,
    /// A shorter time than this call has left.
    pub timeout: Option<Duration>,
    /// Key that identifies retries of the same call.
    pub idempotency_key: Option<String>,
}

impl Request {
    /// A call to this action of this facade.
    pub fn new(facade: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            facade: facade.into(),
            action: action.into(),
            params: Object::new(),
            detail: Detail::default(),
            timeout: None,
            idempotency_key: None,
        }
    }

    /// Adds a parameter. One that cannot be written as JSON is left out.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.params.insert(name.into(), value);
        }
        self
    }

    /// Sets the level of detail of the reply.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Gives it less time than this call has left.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a key that identifies retries of the same call.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Tests whether the host would permit the call with these parameters, without making it. A call whose effect exceeds
    /// that of the running action is `denied`, and `details.effect` names its effect.
    ///
    /// # Errors
    ///
    /// The refusal of the call: `invalid_params`, `denied`, `not_found`.
    pub fn check(&self) -> Result<()> {
        port::check(self)
    }

    /// Makes the call.
    ///
    /// # Errors
    ///
    /// The failure of the other facade or of the host.
    pub fn call(self) -> Result<Reply<Value>> {
        let answer = invoke(vec![self]).pop();
        answer.unwrap_or_else(|| Err(Failure::internal("the host gave no answer")))
    }
}
