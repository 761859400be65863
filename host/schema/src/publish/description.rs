//! A tool's description: the facade's summary and one entry per action, within what every client shows.
//!
//! Clients cut long descriptions silently. Entries that do not fit are moved, whole, into the description of a property,
//! which clients show in full.

use loggia_facade::{Action, Effect};

use crate::{
    model::{limits, sanitise::sanitise_line},
    publish::part::ToolPart,
};

/// A tool's description, with the entries that did not fit.
pub(crate) struct ToolDescription {
    pub(crate) text: String,
    pub(crate) spilled: Vec<String>,
}

impl ToolDescription {
    /// Appends lines to the facade's summary.
    pub(crate) fn new(part: &ToolPart<'_>, lines: impl IntoIterator<Item = String>) -> Self {
        Self::separated(part, "\n", lines)
    }

    /// Appends entries on a line of their own, with this text between them.
    pub(crate) fn separated(
        part: &ToolPart<'_>,
        separator: &str,
        entries: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut description = sanitise_line(&part.contract.surface().summary, usize::MAX);
        let mut length = utf16_len(&description);
        let (mut before, mut spilled) = ("\n", Vec::new());
        for line in entries {
            let units = utf16_len(before) + utf16_len(&line);
            if spilled.is_empty() && length + units <= limits::DESCRIPTION {
                length += units;
                description.push_str(before);
                description.push_str(&line);
                before = separator;
            } else {
                spilled.push(line);
            }
        }
        Self { text: description, spilled }
    }
}

/// One line per action: `add: Add a note.` Host actions need none, because their names and parameters explain them;
/// nor does an action whose summary equals the facade's.
pub(crate) fn summaries(part: &ToolPart<'_>) -> Vec<String> {
    let above = sanitise_line(&part.contract.surface().summary, usize::MAX);
    let lines = part.actions.iter().map(|(_, action)| (&action.name, summary_line(action)));
    lines.filter(|(_, lines)| *lines != above).map(|(name, lines)| format!("{name}: {lines}")).collect()
}

/// An action's summary, with a warning if it is destructive: MCP's annotations cover the whole tool.
pub(crate) fn summary_line(action: &Action) -> String {
    format!("{}{}", warning(action), sanitise_line(&action.summary, usize::MAX))
}

/// The warning before a summary or a signature.
pub(crate) fn warning(action: &Action) -> &'static str {
    if action.effect == Effect::Destructive { "[destructive] " } else { "" }
}

/// Length in UTF-16 units, as JavaScript clients count.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}
