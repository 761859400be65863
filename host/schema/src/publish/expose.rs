//! How a facade is to be published.

/// How a facade is to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expose {
    /// What an input schema shows.
    pub form: Form,
    /// Into how many tools.
    pub split: Split,
    /// Whether the tool says what its results look like.
    pub output_schema: bool,
    /// Whether an action that is a tool of its own is called `add`, rather than `notes_add`.
    pub own_names: bool,
}

/// What an input schema shows of a facade's actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Form {
    /// One flat object: every parameter once, with the actions that take it.
    #[default]
    Flat,
    /// `{action, params}`, with one line for each action.
    Signatures,
    /// The names of the actions; the rest by `describe`.
    Names,
    /// `{action, params}`, with one schema for each action's parameters.
    Union,
    /// A one-action facade's schema, exactly as the plugin gave it.
    Raw,
    /// Each action as a tool of its own.
    Granular,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::Flat, Self::Signatures, Self::Names, Self::Union, Self::Raw, Self::Granular];

    /// The word in policies and options.
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

    /// The form of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

/// Into how many tools a facade is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// One.
    #[default]
    None,
    /// Two where it has both: `notes` for what reads, `notes_write` for the rest, because a client's "always allow" is
    /// per tool.
    Effect,
}
