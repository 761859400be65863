//! Policies as data, which enforcement reads. Nothing here parses.
//!
//! | file | concept | enforced by |
//! |---|---|---|
//! | `policy.rs` | one policy | |
//! | `plugin_grants.rs` | capabilities | `loggia-sandbox` |
//! | `limit_table.rs`, `limit_key.rs` | all limits, and one of them | |
//! | `plugin_limits.rs` | limits of a call and of loading | `loggia-sandbox` |
//! | `facade_rules.rs` | rules for the calls of a facade | `loggia-gate` |
//! | `access_scope.rs` | scopes of a token | `loggia-gate` |
//! | `exposure.rs` | publishing | `loggia-gate` |
//! | `ceilings.rs` | ceilings that the engine reserves for | `loggia-sandbox` |

mod access_scope;
pub mod ceilings;
mod exposure;
mod facade_rules;
mod limit_key;
mod limit_table;
mod plugin_grants;
mod plugin_limits;
mod policy;

pub use self::{
    access_scope::{AccessScope, InvalidScope},
    exposure::Exposed,
    facade_rules::{BreakerConfig, ChainRule, FacadeRules, InvokeReach, InvokeRule, WallClocks},
    limit_key::LimitKey,
    limit_table::{LIMITS, PluginLimits, limit_names},
    plugin_grants::{DirGrant, PluginGrants, StateGrant},
    plugin_limits::{CallBudget, CompileLimits},
    policy::{Policy, PolicyPaths, StatedRules},
};
