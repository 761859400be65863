//! Candidate meanings of a tool's name.

use serde_json::Value;

use crate::definition::{ArgumentValue, ToolCall};

/// One possible meaning of a step's `tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCandidate {
    /// Facade.
    pub facade: String,
    /// Action; empty for the facade's default action.
    pub action: String,
    /// Argument that names the action, if any.
    pub argument: Option<&'static str>,
}

/// Names of arguments that select a facade's action.
const NAMES: [&str; 2] = ["action", "cmd"];

impl ToolCall {
    /// Lists the possible meanings of `tool`, likeliest first: `facade.action`; a facade whose action is an argument
    /// or its default; `facade_action`, the form of granular tools.
    pub fn candidates(&self) -> Vec<ToolCandidate> {
        let of = |facade: &str, action: &str, argument| ToolCandidate {
            facade: facade.to_owned(),
            action: action.to_owned(),
            argument,
        };
        if let Some((facade, action)) = self.tool.split_once('.') {
            return vec![of(facade, action, None)];
        }
        let mut out = Vec::new();
        match self.action_argument() {
            Some((argument, ArgumentValue::Literal(Value::String(action)))) => {
                out.push(of(&self.tool, action, Some(argument)));
            }
            Some(_) => {}
            None => out.push(of(&self.tool, "", None)),
        }
        let parts = self.tool.match_indices('_').filter(|(at, _)| *at > 0 && at + 1 < self.tool.len());
        out.extend(parts.map(|(at, _)| of(&self.tool[..at], &self.tool[at + 1..], None)));
        out
    }

    /// Returns the argument that names an action, if any.
    fn action_argument(&self) -> Option<(&'static str, &ArgumentValue)> {
        NAMES.into_iter().find_map(|name| {
            let (_, argument) = self.arguments.iter().find(|(known, _)| known == name)?;
            Some((name, argument))
        })
    }
}
