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

mod gate;
pub(crate) mod port;
mod store;
mod surface;
pub(crate) mod web;

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde::Serialize;

use crate::{
    Answer, Detail, Effect, Facade, Failure, Level, Object, Reply, Result, Value,
    call::Facts,
    host::{Peer, Request, Schema},
    http,
    table::{self, Incoming},
};
use port::Double;
pub use store::Store;
use web::Route;

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

    /// A key of the configuration.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialised as JSON.
    #[must_use]
    pub fn config(self, key: impl Into<String>, value: impl Serialize) -> Self {
        let json = serde_json::to_string(&value).expect("a configuration is JSON");
        self.double.borrow_mut().config.insert(key.into(), json);
        self
    }

    /// Grants state. Several hosts may share a store, for example for two callers.
    ///
    /// ```
    /// # use loggia_sdk::{prelude::*, state::Cell, testing::{Host, Store}};
    /// static COLOUR: Cell<String> = Cell::new("colour").in_caller_space();
    ///
    /// let store = Store::new();
    /// let ann = Host::new().store(&store).caller("ann");
    /// let bob = Host::new().store(&store).caller("bob");
    /// ann.run(|| COLOUR.set(&"red".into())).unwrap();
    /// assert_eq!(bob.run(|| COLOUR.get()), Ok(None));
    /// ```
    #[must_use]
    pub fn store(self, store: &Store) -> Self {
        self.double.borrow_mut().store = Some(store.clone());
        self
    }

    /// Sets the response to HTTP requests of this method (`*` is any) to this URL, or to any that starts with it; the
    /// longest match applies. Other requests are `denied`, as if the policy did not grant them.
    ///
    /// ```
    /// # use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
    /// let host = Host::new()
    ///     .http("GET", "https://api.example.com/", |_| Ok(Response::new(404)))
    ///     .http("GET", "https://api.example.com/slow", |_| Err(Failure::timed_out("timed out")));
    /// let get = |path: &str| host.run(|| http::get(format!("https://api.example.com/{path}")).send()?.ok());
    /// assert_eq!(get("users").unwrap_err().code, "not_found");
    /// assert_eq!(get("slow").unwrap_err().code, "timed_out");
    /// assert_eq!(host.sent()[0].url, "https://api.example.com/users");
    /// ```
    #[must_use]
    pub fn http(
        self,
        method: impl Into<String>,
        url: impl Into<String>,
        answer: impl Fn(&http::Request) -> Result<http::Response> + 'static,
    ) -> Self {
        let route = Route { method: method.into(), url: url.into(), reads: false, answer: Rc::new(answer) };
        self.double.borrow_mut().routes.push(route);
        self
    }

    /// Declares that requests of this method only read, like `reads` in the policy: `read` actions may send them.
    /// Applies to earlier calls of [`http`](Self::http) with that method.
    ///
    /// ```
    /// # use loggia_sdk::{http::{self, Response}, prelude::*, testing::Host};
    /// # struct Places;
    /// # /// Places.
    /// # #[facade]
    /// # impl Places {
    /// /// Find a place.
    /// #[action(read)]
    /// fn find(&self, name: String) -> Result<Value> {
    ///     http::post("https://api.example.com/search").json(&json!({"name": name})).send()?.ok()?.json()
    /// }
    /// # }
    /// let host = Host::new().http("POST", "https://api.example.com/search", |_| Ok(Response::new(200).with_json(&json!([]))));
    /// assert_eq!(host.call(&Places, "find", json!({"name": "Rome"})).unwrap_err().code, "denied");
    /// assert!(host.reads("POST").call(&Places, "find", json!({"name": "Rome"})).is_ok());
    /// ```
    #[must_use]
    pub fn reads(self, method: &str) -> Self {
        for route in self.double.borrow_mut().routes.iter_mut().filter(|route| route.method == method) {
            route.reads = true;
        }
        self
    }

    /// Sets the schemas of another facade's action, for [`host::lookup`](crate::host::lookup).
    #[must_use]
    pub fn schema(self, facade: impl Into<String>, action: impl Into<String>, schema: Schema) -> Self {
        self.double.borrow_mut().schemas.insert((facade.into(), action.into()), schema);
        self
    }

    /// Sets the refusal of calls to another facade's action, and of their [checks](Request::check); without it, actions
    /// with an [`answer`](Self::answer) pass.
    #[must_use]
    pub fn refuse(self, facade: impl Into<String>, action: impl Into<String>, failure: Failure) -> Self {
        self.double.borrow_mut().refusals.insert((facade.into(), action.into()), failure);
        self
    }

    /// Adds a facade that the plugin may call, for [`host::facades`](crate::host::facades).
    #[must_use]
    pub fn peer(self, peer: Peer) -> Self {
        self.double.borrow_mut().peers.push(peer);
        self
    }

    /// Sets the answer of another facade.
    #[must_use]
    pub fn answer(
        self,
        facade: impl Into<String>,
        action: impl Into<String>,
        answer: impl Fn(&Object) -> Result<Reply<Value>> + 'static,
    ) -> Self {
        self.double.borrow_mut().answers.insert((facade.into(), action.into()), Rc::new(answer));
        self
    }

    /// Adds the person's answer to the next question; may be repeated, one answer per question. Without remaining
    /// answers, questions are `denied`, as if the policy did not grant them.
    #[must_use]
    pub fn person(self, answer: Answer<Value>) -> Self {
        self.double.borrow_mut().person.push_back(answer);
        self
    }

    /// Marks the call as cancelled by its caller.
    #[must_use]
    pub fn cancelled(self) -> Self {
        self.double.borrow_mut().cancelled = true;
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
        port::with(&self.double, code)
    }

    /// The lines that the plugin logged.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.double.borrow().logs.clone()
    }

    /// The progress it reported: done, total, message.
    pub fn progress(&self) -> Vec<(f64, Option<f64>, Option<String>)> {
        self.double.borrow().progress.clone()
    }

    /// Questions to the person, including denied ones.
    pub fn questions(&self) -> Vec<Question> {
        self.double.borrow().questions.clone()
    }

    /// Calls to other facades.
    pub fn requests(&self) -> Vec<Request> {
        self.double.borrow().requests.clone()
    }

    /// The HTTP requests it sent, denied ones too.
    pub fn sent(&self) -> Vec<http::Request> {
        self.double.borrow().sent.clone()
    }
}
