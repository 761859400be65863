//! Publishing options of a policy.

use loggia_schema::{SchemaForm, ToolSplit};

/// Publishing options of a policy. `None`: the policy does not set the option.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposed {
    /// Name of the facade, instead of the plugin's own.
    pub name: Option<String>,
    /// Form of the input schemas.
    pub form: Option<SchemaForm>,
    /// Number of tools.
    pub split: Option<ToolSplit>,
    /// True if tools publish an output schema.
    pub output_schema: bool,
    /// True if clients that load tools on demand are to load its tools at once.
    pub always_load: bool,
    /// True if clients may show its views to people.
    pub views: bool,
}
