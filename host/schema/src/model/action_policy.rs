//! What an operator's policy says of a facade's actions.

/// What an operator's policy says of a facade's actions. The default adds nothing and takes nothing away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Actions that nobody may call: neither published nor run.
    pub deny: Vec<String>,
    /// Actions before which a person is asked.
    pub confirm: Vec<String>,
    /// Whether several calls may be made in one.
    pub batch: bool,
}
