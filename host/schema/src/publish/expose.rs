//! Options of publishing.

/// Options for publishing a facade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExposeOptions {
    /// The form of the input schema.
    pub form: SchemaForm,
    /// The split into several tools.
    pub split: ToolSplit,
    /// Whether to publish a schema of results.
    pub output_schema: bool,
    /// Whether a tool of one action is named `add` instead of `notes_add`.
    pub short_names: bool,
}

/// The form in which an input schema presents the actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SchemaForm {
    /// One flat object: every parameter once, with the actions that take it.
    #[default]
    Flat,
    /// `{action, params}`, with a signature per action.
    Signatures,
    /// Only the names of the actions; details by `describe`.
    Names,
    /// `{action, params}`, with one schema per action.
    Union,
    /// The schema of a facade with one action, exactly as the plugin provides it.
    Raw,
    /// One tool per action.
    Granular,
}

impl SchemaForm {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::Flat, Self::Signatures, Self::Names, Self::Union, Self::Raw, Self::Granular];

    /// The name in policies and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Signatures => "signatures",
            Self::Names => "names",
            Self::Union => "union",
            Self::Raw => "raw",
            Self::Granular => "granular",
        }
    }

    /// Finds a form by its name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

/// The split of a facade into several tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ToolSplit {
    /// One tool.
    #[default]
    None,
    /// Two tools if there are both effects: `notes` for reading, `notes_write` for the rest, because a client's
    /// "always allow" is per tool.
    Effect,
}
