//! The part of an operator's policy that is about actions.

/// The part of an operator's policy that is about a facade's actions. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionPolicy {
    /// Actions that are neither published nor run.
    pub deny: Vec<String>,
    /// Actions that are neither published nor run because the policy lacks a grant that they need.
    pub unmet: Vec<UnmetNeed>,
    /// Actions that need a person's confirmation.
    pub confirm: Vec<String>,
    /// Whose confirmation counts where the client cannot ask a person.
    pub confirm_by: ConsentSource,
    /// Actions whose calls may be written to recordings.
    pub record: Vec<String>,
    /// Whether `batch` is available.
    pub batch: bool,
}

/// Whose confirmation counts where the client cannot ask a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConsentSource {
    /// An operator's, given outside of the client. The call waits for it as a run.
    #[default]
    Person,
    /// The model's `confirm: true`.
    Model,
}

/// A grant that an action needs and the policy lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetNeed {
    /// The action.
    pub action: String,
    /// The grant, as the plugin names it: `config: embeddings`.
    pub grant: String,
}
