//! Calls a facade natively, in a unit test: no WebAssembly, no MCP, but the host's own defaults and checks.
//!
//! ```
//! # use loggia_sdk::{prelude::*, testing};
//! # struct Notes;
//! /// Notes.
//! #[facade]
//! impl Notes {
//!     /// Find notes.
//!     #[action(read)]
//!     fn search(&self, query: String, #[param(default = 10, range = 1..=50)] limit: u32) -> Result<String> {
//!         Ok(format!("{limit} notes about {query}"))
//!     }
//! }
//!
//! let reply = testing::call(&Notes, "search", json!({"query": "milk"})).unwrap();
//! assert_eq!(reply.data, "10 notes about milk");
//!
//! let failure = testing::call(&Notes, "search", json!({"query": "milk", "limit": 99})).unwrap_err();
//! assert_eq!(failure.code, "invalid_params");
//! ```

mod double;
mod gate;
mod surface;

use std::{
    cell::{Ref, RefCell},
    rc::Rc,
    time::Duration,
};

use self::double::Double;
pub(crate) use self::double::current;
pub use crate::state::double::Store;
use crate::{
    Detail, Effect, Facade, Failure, Object, Reply, Result, Value,
    call::Facts,
    table::{self, Incoming},
};

/// Calls an action as the host would, with nothing granted.
///
/// # Errors
///
/// The host's refusal, in its words, or the action's own failure.
///
/// # Panics
///
/// If the host would refuse the facade itself; see [`describe`].
pub fn call<F: Facade>(facade: &F, action: &str, params: Value) -> Result<Reply<Value>> {
    Host::new().call(facade, action, params)
}

/// Returns the published description of the facade as JSON, for example for a snapshot.
///
/// # Panics
///
/// If the host would refuse the facade, with the reasons: a default outside its own bounds, an invalid example.
pub fn describe<F: Facade>(_facade: &F) -> Value {
    let surface = surface::of::<F>();
    gate::contract(&surface);
    surface::to_json(&surface)
}

/// Returns an outline of the facade: for each action its name, effect, summary, and the names of its parameters.
/// Suitable for a snapshot that is quick to read.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing};
/// # struct Notes;
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// /// Find notes.
/// #[action(read)]
/// fn search(&self, query: String, #[param(default = 10)] limit: u32) -> Result<Vec<String>> {
///     Ok(Vec::new())
/// }
/// # }
/// assert_eq!(testing::outline(&Notes), "search (read): Find notes.\n    query, limit");
/// ```
///
/// # Panics
///
/// Like [`describe`].
pub fn outline<F: Facade>(facade: &F) -> String {
    let described = describe(facade);
    let line = |action: &Value| {
        let word = |key: &str| action[key].as_str().unwrap_or_default().to_owned();
        let params = action["params"]["properties"].as_object().into_iter().flatten();
        let params: Vec<&str> = params.map(|(name, _)| name.as_str()).collect();
        format!("{} ({}): {}\n    {}", word("name"), word("effect"), word("summary"), params.join(", "))
    };
    let actions = described["actions"].as_array().into_iter().flatten();
    actions.map(line).collect::<Vec<_>>().join("\n")
}

/// A question that the plugin asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Text of the question.
    pub message: String,
    /// The form: a flat object schema.
    pub form: Object,
}

/// A host for one test, with its grants and its records.
///
/// ```
/// # use loggia_sdk::{prelude::*, testing::Host};
/// # struct Notes;
/// # /// Notes.
/// # #[facade]
/// # impl Notes {
/// #     /// List.
/// #     #[action(read, details)]
/// #     fn list(&self, call: &Call) -> Result<String> {
/// #         info!("listing");
/// #         Ok(format!("{:?} of {:?}", call.detail(), host::config::<String>("folder")?))
/// #     }
/// # }
/// let host = Host::new().detail(Detail::Full).config("folder", "inbox");
/// let reply = host.call(&Notes, "list", json!({})).unwrap();
/// assert_eq!(reply.data, r#"Full of Some("inbox")"#);
/// assert_eq!(host.logs(), [(Level::Info, "listing".to_owned())]);
/// ```
pub struct Host {
    facts: Facts,
    double: Rc<RefCell<Double>>,
}

impl Default for Host {
    fn default() -> Self {
        let facts = Facts {
            id: "test".into(),
            action: String::new(),
            detail: Detail::default(),
            time_left: Duration::from_secs(30),
            caller: None,
            idempotency_key: None,
        };
        Self { facts, double: Rc::default() }
    }
}

impl Host {
    /// A host that grants nothing. Calls are anonymous, of standard detail, and have 30 s.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the caller's level of detail.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.facts.detail = detail;
        self
    }

    /// Sets the time left for a call.
    #[must_use]
    pub fn time_left(mut self, time: Duration) -> Self {
        self.facts.time_left = time;
        self
    }

    /// Sets the caller: its name for the plugin, and its space of the state.
    #[must_use]
    pub fn caller(mut self, caller: impl Into<String>) -> Self {
        let caller = caller.into();
        self.double.borrow_mut().caller = Some(caller.clone());
        self.facts.caller = Some(caller);
        self
    }

    /// The caller's idempotency key.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.facts.idempotency_key = Some(key.into());
        self
    }

    /// Calls an action by its name or an alias.
    ///
    /// # Errors
    ///
    /// The host's refusal, in its words, or the action's own failure.
    ///
    /// # Panics
    ///
    /// If the host would refuse the facade itself; see [`describe`].
    pub fn call<F: Facade>(&self, facade: &F, action: &str, params: Value) -> Result<Reply<Value>> {
        let Value::Object(params) = params else {
            return Err(Failure::invalid_params("parameters are a JSON object"));
        };
        let (action, params) = gate::admit(&surface::of::<F>(), action, params)?;
        let effect = table::find::<F>(&action)?.effect;
        let facts = Facts { action, ..self.facts.clone() };
        let reply = self.run_as(Some(effect), || table::dispatch(facade, Incoming { facts, params }))?;
        let data = serde_json::from_str(&reply.data).map_err(Failure::from)?;
        Ok(reply.with(data))
    }

    /// Runs any code with this host, as in a `write` action: for code below the actions.
    pub fn run<T>(&self, code: impl FnOnce() -> T) -> T {
        self.run_as(None, code)
    }

    fn run_as<T>(&self, effect: Option<Effect>, code: impl FnOnce() -> T) -> T {
        self.double.borrow_mut().effect = effect;
        double::with(&self.double, code)
    }

    /// Changes grants and records.
    pub(crate) fn with(self, change: impl FnOnce(&mut Double)) -> Self {
        change(&mut self.double.borrow_mut());
        self
    }

    /// Grants and records.
    pub(crate) fn double(&self) -> Ref<'_, Double> {
        self.double.borrow()
    }
}
