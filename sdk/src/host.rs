//! Services of the host: log, progress, configuration, questions to the person, calls to other facades. In addition
//! there are [`state`](crate::state) and [`http`](crate::http), and the standard library: granted directories by
//! [`std::fs`], granted variables by [`std::env`](mod@std::env), clocks, random numbers.
//!
//! Services that the policy does not grant return `denied`. In native builds, without a host, `testing::Host` replaces
//! it; without that, logs are discarded, no configuration is set and no facade answers.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Detail, Effect, Failure, Object, Reply, Result, Value};

#[cfg(target_family = "wasm")]
pub(crate) use crate::abi as port;
pub use crate::elicit::{Answer, choose, confirm, elicit, elicit_as};
#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::port;

/// The weight of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Finest.
    Trace,
    /// For the plugin's author.
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

/// Reports progress to the caller. See [`Call::progress`](crate::Call::progress).
pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
    port::progress(done, total, message);
}

/// Tests whether the caller has disconnected or cancelled the call.
pub fn is_cancelled() -> bool {
    port::is_cancelled()
}

/// Value of this key under `[grants] config` in the policy.
///
/// # Errors
///
/// `internal` if the operator's value has another type; the message names the key.
pub fn config<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
    let Some(json) = port::config(key) else { return Ok(None) };
    serde_json::from_str(&json).map(Some).map_err(|error| {
        Failure::internal(format!("the configuration `{key}` is invalid: {error}"))
            .hint(format!("The operator sets `config.{key}` in the plugin's policy file."))
    })
}

/// Like [`config`], with a default.
///
/// # Errors
///
/// See [`config`].
pub fn config_or<T: DeserializeOwned>(key: &str, default: T) -> Result<T> {
    Ok(config(key)?.unwrap_or(default))
}

/// Like [`config`], for a required key.
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
/// `unavailable` if the policy does not set it: names the key and the line to add; otherwise like [`config`].
pub fn require_config<T: DeserializeOwned>(key: &str) -> Result<T> {
    config(key)?.ok_or_else(|| unconfigured(key))
}

// Not generic, so that a guest contains it once.
fn unconfigured(key: &str) -> Failure {
    Failure::unavailable(format!("not configured: this plugin needs `{key}`")).hint(format!(
        "The operator sets it in the plugin's policy file: `[grants] config = {{ {key} = … }}`."
    ))
}

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

/// Another facade, as far as a caller needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Name.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Purpose.
    pub summary: String,
    /// Actions.
    pub actions: Vec<PeerAction>,
}

/// An action of another facade.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerAction {
    /// Name.
    pub name: String,
    /// Description.
    pub summary: String,
    /// Effect.
    pub effect: Effect,
    /// Other names.
    pub aliases: Vec<String>,
}

impl Peer {
    /// A facade without actions yet.
    pub fn new(name: impl Into<String>, title: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), title: title.into(), summary: summary.into(), actions: Vec::new() }
    }

    /// Adds an action.
    #[must_use]
    pub fn action(mut self, name: impl Into<String>, summary: impl Into<String>, effect: Effect) -> Self {
        self.actions.push(PeerAction {
            name: name.into(),
            summary: summary.into(),
            effect,
            aliases: Vec::new(),
        });
        self
    }

    /// Adds another name of the action that was added last.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        if let Some(action) = self.actions.last_mut() {
            action.aliases.push(alias.into());
        }
        self
    }
}

/// Schemas of another facade's action: see [`lookup`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// The JSON Schema of its parameters, an object.
    pub params: Value,
    /// JSON Schema of its data, if published.
    pub data: Option<Value>,
    /// Parameters to learn from.
    pub examples: Vec<Value>,
    /// Name and parameters on one line: `add(text: string, tags?: string[])`.
    pub signature: Option<String>,
    /// Effect, if the host reports it.
    pub effect: Option<Effect>,
    /// True if a person confirms each call.
    pub confirm: bool,
}

impl Schema {
    /// Creates the schemas of an action that only publishes its parameters.
    pub fn new(params: Value) -> Self {
        Self { params, data: None, examples: Vec::new(), signature: None, effect: None, confirm: false }
    }

    /// Adds an example of the parameters.
    #[must_use]
    pub fn example(mut self, params: Value) -> Self {
        self.examples.push(params);
        self
    }

    /// Sets the effect.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Requires a person's confirmation of each call.
    #[must_use]
    pub fn confirm(mut self) -> Self {
        self.confirm = true;
        self
    }

    /// Sets the line that shows the name and parameters.
    #[must_use]
    pub fn signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
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
