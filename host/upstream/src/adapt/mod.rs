//! Adaptation of an upstream's tools to the surface of a facade: pure functions.
//!
//! | file | concept |
//! |---|---|
//! | `listed_tool` | one tool as the upstream lists it, read leniently |
//! | `effects` | what an action does to the world, from the tool's hints |
//! | `action_names` | names of actions: common prefix removed, collisions refused |
//! | `inline` | an input schema without `$ref`s, in JSON Schema 2020-12 |
//! | `reserved` | parameters whose names cannot be used, moved under one parameter |
//! | `parameters` | the strictest form of an input schema that the contract accepts |
//! | `route` | from a call of an action to a call of its tool |
//! | `surface` | all of it: from a list of tools to a surface |

mod action_names;
mod effects;
mod inline;
mod listed_tool;
mod parameters;
mod reserved;
mod route;
mod surface;
#[cfg(test)]
mod tests;

pub use route::ToolRoute;
pub use surface::{AdaptedTools, ServerProfile, adapt_tools};
