//! JSON Schema for facades: bounds, validation, explained errors and published forms. Pure: no I/O, no async, no
//! WebAssembly, no MCP. The gate uses it for every call, and the SDK's `testing` module natively, so that tests of a
//! facade apply the host's rules.
//!
//! A facade's [`Surface`](loggia_facade::Surface) becomes a [`Contract`], which is checked against the bounds and can be
//! published. A call is routed, then prepared:
//!
//! ```text
//! arguments ──route──▶ command, action, parameters ──prepare──▶ complete, valid parameters
//!                └──▶ describe, run_status, run_cancel, batch
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use loggia_schema::{Contract, CallTarget, ToolView};
//! # use loggia_facade::{Action, Effect, Surface};
//! # use serde_json::{Value, json};
//! # fn object(value: Value) -> loggia_facade::Object { value.as_object().cloned().unwrap_or_default() }
//! # let surface = Arc::new(Surface { name: "notes".into(), title: "Notes".into(), version: "1".into(),
//! #     summary: "Notes.".into(), instructions: None, default_action: None, views: vec![], wants: vec![], actions: vec![Action {
//! #         name: "list".into(), summary: "List notes.".into(), effect: Effect::Read, idempotent: true,
//! #         open_world: false, long_running: false, details: false, aliases: vec![], needs: Vec::new(), group: None, resource: None, view: None, data: None, examples: vec![],
//! #         params: Arc::new(object(json!({"type": "object", "properties":
//! #             {"limit": {"type": "integer", "maximum": 50, "default": 10}, "tag": {"type": "string"}}}))) }] });
//!
//! let contract = Contract::new(surface)?;
//! let call = contract.route(object(json!({"action": "List", "tag": "home"})), &ToolView::all_actions()).unwrap();
//! let CallTarget::Action { action, params } = call.target else { unreachable!() };
//! let action = &contract.surface().actions[action];
//! let prepared = contract.prepare(action, params).unwrap();
//! assert_eq!(prepared.params["limit"], 10);
//!
//! let refused = contract.prepare(action, object(json!({"limit": 99}))).unwrap_err();
//! assert_eq!(refused.message, "`limit` must be at most 50 (got 99)");
//! assert_eq!(refused.expected.as_deref(), Some("list(limit?: integer, tag?: string)"));
//! # Ok::<(), loggia_schema::SurfaceProblems>(())
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `text` | values and names in messages; "did you mean" |
//! | `model` | schemas and the data derived from them: bounds, shapes, secrets, validators |
//! | `contract` | a checked surface, and the calls to it |
//! | `publish` | the tools that MCP clients see |
//!
//! Imports go one way: `text` <- `model` <- `contract` <- `publish`. `impl Contract` blocks live in the last two.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![warn(unreachable_pub)]
#![allow(clippy::result_large_err, reason = "a Failure is large, but never returned on a fast path")]

mod contract;
mod model;
mod publish;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod text;

pub use contract::build::Contract;
pub use contract::prepare::PreparedParams;
pub use contract::questionnaire::QuestionForm;
pub use contract::routed::{BatchMode, CallTarget, DescribeRequest, RefusedCall, RoutedCall};
pub use loggia_text::sanitise_line;
pub use model::action_policy::{ActionPolicy, ConsentSource, UnmetNeed};
pub use model::bounds::SurfaceProblems;
pub use model::limits;
pub use model::sanitise::sanitise_surface;
pub use model::secrets::{REDACTED, redact};
pub use model::text_flags::{TextFlag, flag_texts};
pub use model::uri_template::{UriTemplate, expand_key_template};
pub use model::view::ToolView;
pub use model::{
    host_action::{HOST_ACTIONS, LOGIN_CODE},
    surface_limits::SurfaceLimits,
};
pub use publish::budget::{BudgetFit, FormLadder, fit_budget};
pub use publish::clients::LintSeverity;
pub use publish::expose::{ExposeOptions, SchemaForm, ToolSplit};
pub use publish::host_parameters::HOST_PARAMETERS_TEXT;
pub use publish::lint::{LintFinding, lint};
pub use publish::parameter_lint::{ParameterFinding, lint_parameters};
pub use publish::tool::PublishedTool;
pub use text::{near::nearest, tool_names::explain_unknown_tool};
