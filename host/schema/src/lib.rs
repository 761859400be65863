//! What Loggia does with JSON Schema. Pure: no I/O, no async, no WebAssembly, no MCP; the gate uses it for every call,
//! and the SDK's `testing` module uses it natively, so that a facade is tested by the rules it will meet.
//!
//! A facade's [`Surface`](loggia_facade::Surface) becomes a [`Contract`]: checked against the bounds, with its published
//! form made. A call then goes through three steps:
//!
//! ```text
//! arguments ──route──▶ command, action, parameters ──prepare──▶ complete, valid parameters
//!                └──▶ describe, run_status, run_cancel, batch
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use loggia_schema::{Contract, Target, View};
//! # use loggia_facade::{Action, Effect, Surface};
//! # use serde_json::{Value, json};
//! # fn object(value: Value) -> loggia_facade::Object { value.as_object().cloned().unwrap_or_default() }
//! # let surface = Arc::new(Surface { name: "notes".into(), title: "Notes".into(), version: "1".into(),
//! #     summary: "Notes.".into(), instructions: None, default_action: None, wants: vec![], actions: vec![Action {
//! #         name: "list".into(), summary: "List notes.".into(), effect: Effect::Read, idempotent: true,
//! #         open_world: false, long_running: false, details: false, aliases: vec![], data: None, examples: vec![],
//! #         params: Arc::new(object(json!({"type": "object", "properties":
//! #             {"limit": {"type": "integer", "maximum": 50, "default": 10}, "tag": {"type": "string"}}}))) }] });
//!
//! let contract = Contract::new(surface)?;
//! let call = contract.route(object(json!({"action": "List", "tag": "home"})), &View::whole()).unwrap();
//! let Target::Action { action, params } = call.target else { unreachable!() };
//! let action = &contract.surface().actions[action];
//! let prepared = contract.prepare(action, params).unwrap();
//! assert_eq!(prepared.params["limit"], 10);
//!
//! let refused = contract.prepare(action, object(json!({"limit": 99}))).unwrap_err();
//! assert_eq!(refused.message, "`limit` must be at most 50 (got 99)");
//! assert_eq!(refused.expected.as_deref(), Some("list(limit?: integer, tag?: string)"));
//! # Ok::<(), loggia_schema::Problems>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `contract` | holds the parts together; finds actions |
//! | `bounds`, `limits` | what a surface may hold |
//! | `keywords`, `formats` | what the words of JSON Schema mean |
//! | `resolve`, `simplify` | an author's schema, in the one form that the rest works on |
//! | `compiled` | a schema made ready to check values, bounded |
//! | `rules` | one action's schema, made ready: validator, shape, plan, signature, example |
//! | `pattern`, `work` | patterns of strings, and how much work they may be |
//! | `shape`, `loosest`, `words` | what a model needs to see of a schema: its kinds, and its bounds in words |
//! | `publish`, `expose`, `part`, `view` | what an MCP client sees: in which form, in how many tools |
//! | `flat`, `nested`, `raw`, `granular` | the forms |
//! | `lines`, `parameters`, `extra`, `results` | what they are made of: descriptions, properties, the host's own |
//! | `lint`, `clients` | which clients reject or lose what of it |
//! | `budget` | the forms that fit a number of tokens |
//! | `signature`, `describe` | the same in one line, and on demand |
//! | `route`, `own`, `asked` | arguments in any accepted shape; the host's own actions |
//! | `terms` | what an operator's policy says of the actions |
//! | `nulls`, `plan`, `coerce`, `prepare` | defaults, harmless slips, strict validation |
//! | `explain`, `fault`, `alternatives`, `condition`, `phrase`, `example` | errors that teach |
//! | `questionnaire`, `asks_secret` | questions to a person |
//! | `text`, `show`, `secrets` | text that hides nothing; values cut to what is worth reading; what is never shown |
//! | `near` | which name was meant by a misspelt one |

#![allow(
    clippy::result_large_err,
    reason = "a Failure is large, told once, and never on a path that must be fast"
)]

mod alternatives;
mod asked;
mod asks_secret;
#[cfg(test)]
mod bad_input;
mod bounds;
mod budget;
mod clients;
mod coerce;
mod compiled;
mod condition;
mod contract;
mod describe;
#[cfg(test)]
mod documented;
mod example;
mod explain;
mod expose;
mod extra;
mod fault;
#[cfg(test)]
mod fixture;
mod flat;

mod formats;
#[cfg(test)]
mod forms;
mod granular;
mod keywords;
pub mod limits;
mod lines;
mod lint;
mod loosest;
mod near;
mod nested;
mod nulls;
mod own;
mod parameters;
mod part;
mod pattern;
mod phrase;
mod plan;
mod prepare;
#[cfg(test)]
mod properties;
mod publish;
mod questionnaire;
mod raw;
mod resolve;
mod results;
mod route;
mod rules;
mod secrets;
mod shape;
mod show;
mod signature;
mod simplify;
#[cfg(test)]
mod surfaces;
mod terms;
mod text;
mod view;
mod words;
mod work;

pub use bounds::Problems;
pub use budget::{Fit, Ladder, fit};
pub use contract::Contract;
pub use expose::{Expose, Form, Split};
pub use lint::{Finding, Severity, lint};
pub use loggia_text::sanitise_line;
pub use near::nearest;
pub use prepare::Prepared;
pub use publish::Published;
pub use questionnaire::Questionnaire;
pub use route::{Mode, Refused, Routed, Target};
pub use secrets::{REDACTED, redact};
pub use terms::Terms;
pub use text::sanitise_surface;
pub use view::View;
