//! What the host offers: log, progress, configuration, questions to the person, calls to other facades.
//!
//! What the policy does not grant answers `denied`. Natively, where there is no host, `testing::Host` stands in for it;
//! without that, the log goes nowhere, nothing is configured and no facade answers.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Detail, Effect, Failure, Object, Reply, Result, Value};

#[cfg(target_family = "wasm")]
pub(crate) use crate::abi as port;
pub use crate::elicit::{Answer, confirm, elicit};
#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::port;

/// The weight of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Finest.
    Trace,
    /// For the author.
    Debug,
    /// For the operator.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

/// Writes a line to the host's log, under the facade's name. See also [`info!`](crate::info) and its neighbours.
pub fn log(level: Level, message: &str) {
    port::log(level, message);
}

/// Tells the caller how far the call has come. See [`Call::progress`](crate::Call::progress).
pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
    port::progress(done, total, message);
}

/// Whether the caller has gone away or said stop.
pub fn is_cancelled() -> bool {
    port::is_cancelled()
}

/// What the policy gives under `[grants] config` for this key.
///
/// # Errors
///
/// `internal` where the operator's value is of another type; the message names the key.
pub fn config<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
    let Some(json) = port::config(key) else { return Ok(None) };
    serde_json::from_str(&json).map(Some).map_err(|error| {
        Failure::internal(format!("the configuration `{key}` does not fit: {error}"))
            .hint(format!("The operator sets `config.{key}` in the plugin's policy file."))
    })
}

/// The facades that this plugin may call.
///
/// # Errors
///
/// `denied` where the policy grants no `invoke`.
pub fn facades() -> Result<Vec<Peer>> {
    port::facades()
}

/// Makes calls to other facades, all at once; answers in the order of the requests.
pub fn invoke(requests: Vec<Request>) -> Vec<Result<Reply<Value>>> {
    port::invoke(requests)
}

/// Another facade, as far as a caller needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for.
    pub summary: String,
    /// Its actions.
    pub actions: Vec<PeerAction>,
}

/// An action of another facade.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerAction {
    /// Its name.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// What it does to the world.
    pub effect: Effect,
}

impl Peer {
    /// A facade without actions yet.
    pub fn new(name: impl Into<String>, title: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), title: title.into(), summary: summary.into(), actions: Vec::new() }
    }

    /// Adds an action.
    #[must_use]
    pub fn action(mut self, name: impl Into<String>, summary: impl Into<String>, effect: Effect) -> Self {
        self.actions.push(PeerAction { name: name.into(), summary: summary.into(), effect });
        self
    }
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
    /// Which facade.
    pub facade: String,
    /// Which of its actions.
    pub action: String,
    /// With what parameters.
    pub params: Object,
    /// How much is wanted back.
    pub detail: Detail,
    /// A shorter time than this call has left.
    pub timeout: Option<Duration>,
    /// So that a repeated call does its work once.
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

    /// Says how much is wanted back.
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

    /// Makes a repeated call do its work once.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Makes the call, alone.
    ///
    /// # Errors
    ///
    /// The other facade's failure, or the host's.
    pub fn call(self) -> Result<Reply<Value>> {
        let answer = invoke(vec![self]).pop();
        answer.unwrap_or_else(|| Err(Failure::internal("the host gave no answer")))
    }
}
