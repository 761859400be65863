//! What the host offers: log, progress, configuration, questions to the person, calls to other facades. Beside it stand
//! [`state`](crate::state) and [`http`](crate::http), and what the standard library reaches: granted directories by
//! [`std::fs`], granted variables by [`std::env`](mod@std::env), clocks, random numbers.
//!
//! What the policy does not grant answers `denied`. Natively, where there is no host, `testing::Host` stands in for it;
//! without that, the log goes nowhere, nothing is configured and no facade answers.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Detail, Effect, Failure, Object, Reply, Result, Value};

#[cfg(target_family = "wasm")]
pub(crate) use crate::abi as port;
pub use crate::elicit::{Answer, confirm, elicit, elicit_as};
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

/// The same, or something else where the policy gives nothing.
///
/// # Errors
///
/// As [`config`].
pub fn config_or<T: DeserializeOwned>(key: &str, default: T) -> Result<T> {
    Ok(config(key)?.unwrap_or(default))
}

/// The same, where the plugin cannot do without.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// let failure = host::require_config::<String>("region").unwrap_err();
/// assert_eq!(failure.message, "not configured: this plugin needs `region`");
/// assert_eq!(failure.hint.as_deref(), Some("The operator sets it in the plugin's policy file: `[grants] config = { region = … }`."));
/// ```
///
/// # Errors
///
/// `unavailable` where the policy gives nothing: names the key and the line to write; else as [`config`].
pub fn require_config<T: DeserializeOwned>(key: &str) -> Result<T> {
    config(key)?.ok_or_else(|| unconfigured(key))
}

// Not generic, so that a guest holds it once.
fn unconfigured(key: &str) -> Failure {
    Failure::unavailable(format!("not configured: this plugin needs `{key}`")).hint(format!(
        "The operator sets it in the plugin's policy file: `[grants] config = {{ {key} = … }}`."
    ))
}

/// The facades that this plugin may call.
///
/// # Errors
///
/// `denied` where the policy grants no `invoke`.
pub fn facades() -> Result<Vec<Peer>> {
    port::facades()
}

/// What another facade's action takes and gives.
///
/// # Errors
///
/// `denied` where the policy does not grant `invoke` of it; `not_found` where there is none.
pub fn lookup(facade: &str, action: &str) -> Result<Schema> {
    port::lookup(facade, action)
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

/// What an action of another facade takes and gives: see [`lookup`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// The JSON Schema of its parameters, an object.
    pub params: Value,
    /// The JSON Schema of its data, where it says so.
    pub data: Option<Value>,
    /// Parameters to learn from.
    pub examples: Vec<Value>,
}

impl Schema {
    /// Of an action that says nothing but what it takes.
    pub fn new(params: Value) -> Self {
        Self { params, data: None, examples: Vec::new() }
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

    /// Whether the host would let it through, parameters and all, without making it.
    ///
    /// # Errors
    ///
    /// What making it would be refused with: `invalid_params`, `denied`, `not_found`.
    pub fn check(&self) -> Result<()> {
        port::check(self)
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
