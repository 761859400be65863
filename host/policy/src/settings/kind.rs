//! Tables of the file as data, which the JSON Schema and the reference page share.

use clap::builder::PossibleValue;
use serde_json::Value as Json;

/// One table of the file.
pub(super) struct TableSpec {
    /// Name of its definition in the JSON Schema.
    pub name: &'static str,
    /// Lines of its description.
    pub means: &'static [&'static str],
    pub keys: Vec<KeySpec>,
}

/// One key of a table.
pub(super) struct KeySpec {
    /// Name in the file.
    pub name: String,
    /// Lines of its description.
    pub means: &'static [&'static str],
    pub kind: ValueKind,
    pub is_required: bool,
    /// Default, if a value can express it.
    pub default: Option<Json>,
}

/// Type of a value, for the JSON Schema and the reference page.
pub(super) enum ValueKind {
    Text,
    Address,
    Flag,
    /// An integer, with its format in JSON Schema.
    Number(&'static str),
    /// A number with a unit: name of the definition, units, example.
    Quantity(&'static str, &'static str, &'static str),
    /// One of several words: name and description of the definition, words.
    Words(&'static str, &'static str, Vec<PossibleValue>),
    List(Box<ValueKind>),
    /// A list in which order and duplicates have no meaning.
    Set(Box<ValueKind>),
    Table(TableSpec),
    /// A text in place of a table's first key, or the table.
    TextOr(Box<ValueKind>),
    /// A table of any values.
    Any,
    /// A table whose keys the operator chooses.
    Map(Box<ValueKind>),
    /// A value that may be missing.
    Optional(Box<ValueKind>),
}
