//! Schemas, and the data derived from them. No contract, no call, no tool.
//!
//! | file | concept |
//! |---|---|
//! | `action_policy` | what an operator allows for each action |
//! | `action_set` | a set of actions of one facade |
//! | `bounds` | names, counts and sizes that a surface may have |
//! | `brief` | the part of a parameter's text that a first call needs |
//! | `compiled` | a compiled validator, with its cost |
//! | `constraints` | bounds, formats and defaults in words |
//! | `formats` | the asserted values of `format`, with names and samples |
//! | `host_action` | the actions that the host adds to a facade |
//! | `keywords` | which keywords hold schemas, and which only annotate |
//! | `limits` | the numbers behind `bounds` |
//! | `loosest` | the narrowest shape that covers several shapes |
//! | `names` | the form of names |
//! | `nesting` | how deep JSON values nest |
//! | `pattern` | regular expressions that stop when their work budget is spent |
//! | `resolve` | replaces `$ref`s: the form of a schema that everything else reads |
//! | `resource_checks` | resources and views that a surface may have |
//! | `sanitise` | removes invisible characters from the texts of a surface |
//! | `secrets` | which values a schema marks as secret, and redaction |
//! | `shape` | a schema reduced to kinds, names and allowed words |
//! | `shape_reader` | derives a shape from a schema |
//! | `signature` | an action and its parameters in one line |
//! | `simplify` | rewrites equivalent alternatives into one form |
//! | `surface_limits` | limits of a surface, by its origin |
//! | `text_flags` | texts that look like instructions, or are hidden |
//! | `uri_template` | templates of URIs |
//! | `value_texts` | what the values of an `enum` mean |
//! | `view` | the actions that one tool offers to one caller |
//! | `work` | the step budget of the current thread |

pub(crate) mod action_policy;
pub(crate) mod action_set;
pub(crate) mod bounds;
pub(crate) mod brief;
pub(crate) mod compiled;
pub(crate) mod constraints;
pub(crate) mod formats;
pub(crate) mod host_action;
pub(crate) mod keywords;
pub mod limits;
pub(crate) mod loosest;
pub(crate) mod names;
pub(crate) mod nesting;
pub(crate) mod pattern;
pub(crate) mod resolve;
pub(crate) mod resource_checks;
pub(crate) mod sanitise;
pub(crate) mod secrets;
pub(crate) mod shape;
pub(crate) mod shape_reader;
pub(crate) mod signature;
pub(crate) mod simplify;
pub(crate) mod surface_limits;
pub(crate) mod text_flags;
pub(crate) mod uri_template;
pub(crate) mod value_texts;
pub(crate) mod view;
pub(crate) mod work;

#[cfg(test)]
mod tests;
