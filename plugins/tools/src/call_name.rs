//! Names of calls: `memories.add`.

use std::fmt;

use loggia_sdk::{
    host::{Request, Schema},
    prelude::*,
};

/// Name of a call. The action may be empty: the facade's default action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallName {
    pub facade: String,
    pub action: String,
}

impl From<String> for CallName {
    /// Splits at the first `.`, or at another separator that models write instead.
    fn from(text: String) -> Self {
        let text = text.trim();
        let (facade, action) = text.split_once(['.', ':', '/', ' ']).unwrap_or((text, ""));
        Self { facade: facade.to_lowercase(), action: action.trim().to_owned() }
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.facade)?;
        if self.action.is_empty() { Ok(()) } else { write!(f, ".{}", self.action) }
    }
}

impl CallName {
    pub fn new(facade: impl Into<String>, action: impl Into<String>) -> Self {
        Self { facade: facade.into(), action: action.into() }
    }

    /// Creates the request for this call.
    pub fn request(&self, arguments: Object) -> Request {
        let mut request = Request::new(&self.facade, &self.action);
        request.params = arguments;
        request
    }

    /// Replaces an alias by the action's name, which begins the signature.
    pub fn resolved(&self, found: &Schema) -> Self {
        let name = found.signature.as_deref().and_then(|signature| signature.split('(').next());
        Self::new(&self.facade, name.filter(|name| !name.is_empty()).unwrap_or(&self.action))
    }
}

/// Returns the action of this plugin that calls actions of this effect.
pub fn caller_of(effect: Option<Effect>) -> &'static str {
    if effect == Some(Effect::Read) { "read" } else { "execute" }
}

/// Returns the word for an effect.
pub fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Destructive => "destructive",
    }
}
