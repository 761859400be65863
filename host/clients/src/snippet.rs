//! An entry as text to paste.

use anyhow::Context;
use serde_json::{Map, Value};

use super::{
    edit,
    facts::{ClientRow, FileSyntax},
};

/// Renders the file that holds this entry alone.
///
/// # Errors
///
/// Never for entries of the table; their texts are not those of a format.
pub fn render_snippet(client: &ClientRow, name: &str, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let empty = match client.syntax {
        FileSyntax::Json | FileSyntax::Jsonc => "{}",
        FileSyntax::Toml | FileSyntax::Yaml => "",
    };
    edit::put_entry(client.syntax, empty, client.key, name, entry).context("the entry cannot be rendered")
}
