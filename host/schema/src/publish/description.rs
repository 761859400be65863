//! A tool's description: the facade's summary and one line for each action, within what every client shows.
//!
//! Clients cut a description silently; what does not fit is spilled, whole lines at a time, into the description of a
//! property, which they show whole.

use loggia_facade::{Action, Effect};

use crate::{
    model::{limits, sanitise::sanitise_line},
    publish::part::ToolPart,
};

/// A tool's description, and the lines that did not fit into it.
pub(crate) struct ToolDescription {
    pub text: String,
    pub spilled: Vec<String>,
}

impl ToolDescription {
    /// Lays out these lines under the facade's summary.
    pub(crate) fn new(part: &ToolPart<'_>, lines: impl IntoIterator<Item = String>) -> Self {
        let mut description = sanitise_line(&part.contract.surface().summary, usize::MAX);
        let mut length = utf16_len(&description);
        let mut spilled = Vec::new();
        for line in lines {
            let units = 1 + utf16_len(&line);
            if spilled.is_empty() && length + units <= limits::DESCRIPTION {
                length += units;
                description.push('\n');
                description.push_str(&line);
            } else {
                spilled.push(line);
            }
        }
        Self { text: description, spilled }
    }
}

/// `add: Add a note.`: each action with what it does. The host's own need no line: their names say it, and what their
/// parameters are told to be. Nor does one of which the facade's summary has said all.
pub(crate) fn summaries(part: &ToolPart<'_>) -> Vec<String> {
    let above = sanitise_line(&part.contract.surface().summary, usize::MAX);
    let said = part.actions.iter().map(|(action, _)| (&action.name, summary_line(action)));
    said.filter(|(_, said)| *said != above).map(|(name, said)| format!("{name}: {said}")).collect()
}

/// An action's summary, with a warning where it may lose something for good: annotations speak of the whole tool.
fn summary_line(action: &Action) -> String {
    format!("{}{}", warning(action), sanitise_line(&action.summary, usize::MAX))
}

/// What a line warns of.
pub(crate) fn warning(action: &Action) -> &'static str {
    if action.effect == Effect::Destructive { "[destructive] " } else { "" }
}

/// A property's description, with the lines that the tool's had no room for.
pub(crate) fn with_spilled(mut text: String, spilled: &[String]) -> String {
    for line in spilled {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// The length of a text as JavaScript clients count it.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}
