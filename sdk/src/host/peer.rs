//! What a plugin learns about another facade.

use crate::{Effect, Value};

/// Another facade, as far as a caller needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Name.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Purpose.
    pub summary: String,
    /// Actions.
    pub actions: Vec<PeerAction>,
}

/// An action of another facade.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerAction {
    /// Name.
    pub name: String,
    /// Description.
    pub summary: String,
    /// Effect.
    pub effect: Effect,
    /// Other names.
    pub aliases: Vec<String>,
}

impl Peer {
    /// A facade without actions yet.
    pub fn new(name: impl Into<String>, title: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), title: title.into(), summary: summary.into(), actions: Vec::new() }
    }

    /// Adds an action.
    #[must_use]
    pub fn action(mut self, name: impl Into<String>, summary: impl Into<String>, effect: Effect) -> Self {
        self.actions.push(PeerAction {
            name: name.into(),
            summary: summary.into(),
            effect,
            aliases: Vec::new(),
        });
        self
    }

    /// Adds another name of the action that was added last.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        if let Some(action) = self.actions.last_mut() {
            action.aliases.push(alias.into());
        }
        self
    }
}

/// Schemas of another facade's action: see [`lookup`](super::lookup).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// The JSON Schema of its parameters, an object.
    pub params: Value,
    /// JSON Schema of its data, if published.
    pub data: Option<Value>,
    /// Parameters to learn from.
    pub examples: Vec<Value>,
    /// Name and parameters on one line: `add(text: string, tags?: string[])`.
    pub signature: Option<String>,
    /// Effect, if the host reports it.
    pub effect: Option<Effect>,
    /// True if a person confirms each call.
    pub confirm: bool,
}

impl Schema {
    /// Creates the schemas of an action that only publishes its parameters.
    pub fn new(params: Value) -> Self {
        Self { params, data: None, examples: Vec::new(), signature: None, effect: None, confirm: false }
    }

    /// Adds an example of the parameters.
    #[must_use]
    pub fn example(mut self, params: Value) -> Self {
        self.examples.push(params);
        self
    }

    /// Sets the effect.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Requires a person's confirmation of each call.
    #[must_use]
    pub fn confirm(mut self) -> Self {
        self.confirm = true;
        self
    }

    /// Sets the line that shows the name and parameters.
    #[must_use]
    pub fn signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
        self
    }
}
