//! YAML as nodes that know their lines, within limits.
//!
//! The grammar is `saphyr-parser`'s, which gives events; what they mean (YAML 1.2's core schema, aliases, merge keys) and
//! how much of it is accepted is decided here. A file comes from whoever writes into the plugin folder.
//!
//! | file | concept |
//! |---|---|
//! | `grow.rs` | events become a tree |
//! | `scalar.rs` | what a word without quotes means |
//! | `unreadable.rs` | what is no YAML, with advice |

mod grow;
mod scalar;
#[cfg(test)]
mod tests;
mod unreadable;

use serde_json::{Map, Value as Json};

pub(crate) use self::grow::shown;
use crate::Problem;

/// Bytes of a file.
pub const BYTES: usize = 1 << 20;
/// Nodes inside each other.
pub const DEPTH: usize = 64;
/// Nodes of a file, after aliases were replaced by what they name.
pub const NODES: usize = 100_000;
/// Bytes of all its texts, after aliases were replaced by what they name.
const TEXTS: usize = 4 * BYTES;

/// A part of a file, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: Value,
}

/// What can stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Null, true or false, or a number, without quotes; and as it is written.
    Plain(Json, String),
    /// A number that JSON does not have, as it is written.
    Unreal(String),
    /// `[…]`
    List(Vec<Node>),
    /// `{…}`, in the file's order.
    Map(Vec<Entry>),
}

/// A name with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub key: String,
    /// Where the name stands.
    pub line: usize,
    /// The value.
    pub node: Node,
}

/// A file as a tree, and what is wrong with it that does not keep it from being one.
#[derive(Debug)]
pub struct Tree {
    /// The document.
    pub root: Node,
    /// Names that stand twice, and the like.
    pub problems: Vec<Problem>,
}

/// Reads a file's text.
///
/// # Errors
///
/// Where it is no YAML, or more of it than is accepted.
pub fn parse(text: &str) -> Result<Tree, Problem> {
    if text.len() > BYTES {
        let said = format!("the file has {} bytes; at most {BYTES} are accepted", text.len());
        return Err(Problem::new(0, "", said).hint("split it into several files"));
    }
    grow::tree(text)
}

impl Node {
    /// Whether it is null, which is the same as not being there.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Plain(Json::Null, _))
    }

    /// What stands under a name.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// As JSON.
    ///
    /// # Errors
    ///
    /// The line of a number that JSON does not have, and the number.
    pub fn json(&self) -> Result<Json, (usize, String)> {
        Ok(match &self.value {
            Value::Text(text) => Json::String(text.clone()),
            Value::Plain(value, _) => value.clone(),
            Value::Unreal(written) => return Err((self.line, written.clone())),
            Value::List(items) => Json::Array(items.iter().map(Node::json).collect::<Result<_, _>>()?),
            Value::Map(entries) => {
                let members = entries.iter().map(|entry| Ok((entry.key.clone(), entry.node.json()?)));
                Json::Object(members.collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Plain(Json::Null, _) => "null",
            Value::Plain(Json::Bool(_), _) => "true or false",
            Value::Plain(..) | Value::Unreal(_) => "a number",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }
}
