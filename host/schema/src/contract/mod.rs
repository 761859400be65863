//! A checked surface, and every call held to it.
//!
//! The blocks of `impl Contract` are in `build` (construction), `actions`, `narrow`, `policy`, `route`, `host_call`,
//! `nulls`, `prepare` and `unnamed`; those about tools are in `publish/`.
//!
//! | file | concept |
//! |---|---|
//! | `action_index` | finds actions by words |
//! | `actions` | finds actions by name and refuses unknown ones |
//! | `build` | `Contract`: checks a surface and builds the rules of its actions |
//! | `coerce` | fixes harmless slips: `"5"` for `5` |
//! | `defaults` | fills in defaults before validation |
//! | `example` | generates example parameters from a schema |
//! | `explain` | turns validation errors into a `Failure` that helps to fix the call |
//! | `host_call` | calls of the host's own actions |
//! | `host_rules` | schemas of the host's own actions |
//! | `groups` | groups of actions, with counts |
//! | `login_codes` | codes by which callers complete a login |
//! | `narrow` | restricts a tool to the actions that a caller may call |
//! | `nulls` | drops nulls that stand for parameters of other actions |
//! | `owners` | which actions take a parameter of a name |
//! | `policy` | applies an operator's policy |
//! | `prepare` | completes and validates the parameters of a call |
//! | `questionnaire` | forms of questions to a person |
//! | `route` | splits arguments into command, action and parameters |
//! | `routed` | the result of routing |
//! | `rule_table` | the rules of all actions, read at load or at first use |
//! | `rules` | one action's schema, ready for calls |
//! | `unnamed` | calls that name no action |

pub(crate) mod action_index;
pub(crate) mod actions;
pub(crate) mod build;
pub(crate) mod coerce;
pub(crate) mod defaults;
pub(crate) mod example;
pub(crate) mod explain;
pub(crate) mod groups;
pub(crate) mod host_call;
pub(crate) mod host_rules;
pub(crate) mod login_codes;
pub(crate) mod narrow;
pub(crate) mod nulls;
pub(crate) mod owners;
pub(crate) mod policy;
pub(crate) mod prepare;
pub(crate) mod questionnaire;
pub(crate) mod route;
pub(crate) mod routed;
pub(crate) mod rule_table;
pub(crate) mod rules;
pub(crate) mod unnamed;

#[cfg(test)]
mod tests;
