//! What MCP clients see of a contract: tools in several forms, `describe`, and lint.
//!
//! | file | concept |
//! |---|---|
//! | `brief_schema` | a property of the `flat` form |
//! | `budget` | picks forms that fit a token budget |
//! | `clients` | table of what clients reject or drop |
//! | `describe` | the result of the `describe` action: all actions, or one |
//! | `describe_found` | the result of `describe` with a query or a group, and of large facades |
//! | `description` | a tool's description, within what every client shows |
//! | `expose` | options: form, split, names |
//! | `flat` | the default form: one flat object |
//! | `granular` | the form with one tool per action |
//! | `host_parameters` | parameters that the host adds |
//! | `large` | the form of facades with too many actions for a list |
//! | `lint` | checks a tool against the table of clients |
//! | `nested` | the forms `{action, params}`: signatures, names, union |
//! | `output_schema` | the schema of the envelope |
//! | `parameter_lint` | checks parameters for what models fill in wrongly |
//! | `parameters` | parameters of many actions, merged by name |
//! | `part` | the part of a facade that one tool shows |
//! | `raw` | the form that passes the author's schema through |
//! | `render` | publishes a contract in the requested form |
//! | `tool` | a published tool |

pub(crate) mod brief_schema;
pub(crate) mod budget;
pub(crate) mod clients;
pub(crate) mod describe;
pub(crate) mod describe_found;
pub(crate) mod description;
pub(crate) mod expose;
pub(crate) mod flat;
pub(crate) mod granular;
pub(crate) mod host_parameters;
pub(crate) mod large;
pub(crate) mod lint;
pub(crate) mod nested;
pub(crate) mod output_schema;
pub(crate) mod parameter_lint;
pub(crate) mod parameters;
pub(crate) mod part;
pub(crate) mod raw;
pub(crate) mod render;
pub(crate) mod tool;

#[cfg(test)]
mod tests;
