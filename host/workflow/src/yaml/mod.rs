//! YAML parsing into nodes that know their line numbers, within limits.
//!
//! `saphyr-parser` supplies the grammar as events. This module decides their meaning (YAML 1.2's core schema, aliases,
//! merge keys) and enforces the limits.
//!
//! | file | concept |
//! |---|---|
//! | `limits.rs` | size limits |
//! | `node.rs` | nodes and the tree |
//! | `excerpt.rs` | excerpts of a file for messages |
//! | `scalar.rs` | values of plain (unquoted) scalars |
//! | `builder.rs` | tree construction from events: aliases, merge keys, limits |
//! | `syntax.rs` | hints for common syntax errors |
//! | `parse.rs` | the entry point |

mod builder;
mod excerpt;
mod limits;
mod node;
mod parse;
mod scalar;
mod syntax;
#[cfg(test)]
mod tests;

pub(crate) use self::excerpt::excerpt;
pub use self::{
    limits::{BYTES, DEPTH, NODES},
    node::{MapEntry, YamlNode, YamlTree, YamlValue},
    parse::parse,
};
