//! Publishing of a facade, as its policy sets it.

use loggia_schema::{SchemaForm, ToolSplit};

/// How a plugin is published, as far as its policy says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposed {
    /// The facade's name, instead of the one that the plugin gives itself.
    pub name: Option<String>,
    /// What input schemas show.
    pub form: Option<SchemaForm>,
    /// Into how many tools.
    pub split: Option<ToolSplit>,
    /// Whether the tools say what their results look like.
    pub output_schema: bool,
}
